import { join } from "node:path";
import type { FleetPod } from "./fleet.ts";
import type { StormPlan } from "./plan.ts";

/**
 * Everything a storm makes on this machine, and nothing outside of it. The names are fixed and the folder is the
 * marker: a storm that was killed is found by the next one, and cleared away.
 */
export const site = {
  name: "levee-storm",
  runDir: "/run/levee-storm",
  stateDir: "/var/lib/levee-storm",
  group: "levee-storm",
  netnsPrefix: "levee-storm-",
  bridgePrefix: "lvstorm",
  /** Container IDs start with this, so that an address booked outside the site can be told to be ours. */
  containerIdPrefix: "1e4ee570412e4ee5",
  namespaces: { burst: "storm", second: "bystanders", networks: "levee-storm" },
} as const;

export const sitePaths = {
  config: join(site.stateDir, "daemon-config.json"),
  /** What the next storm must know if this one is killed. */
  marker: join(site.stateDir, "marker.json"),
  program: join(site.stateDir, "levee"),
  journal: join(site.stateDir, "state"),
  directory: join(site.stateDir, "directory"),
  networks: join(site.stateDir, "directory", "networks"),
  pods: join(site.stateDir, "directory", "pods"),
  ipam: join(site.stateDir, "ipam"),
  calls: join(site.runDir, "calls"),
  daemonLog: join(site.stateDir, "daemon.log"),
  handLog: join(site.stateDir, "hand.log"),
} as const;

/** The kernel takes 1,024 ports on a bridge; a /22 has as many addresses. */
const podsPerBridge = 900;

export interface SiteNetwork {
  readonly name: string;
  readonly bridge: string;
  readonly subnet: string;
}

/** Two networks, and two more for every 900 pods beyond. */
export function ownNetworks(plan: StormPlan): readonly (readonly [SiteNetwork, SiteNetwork])[] {
  const groups = Math.ceil((plan.pods + plan.second.pods) / podsPerBridge);
  return Array.from({ length: groups }, (_, at) => [ownNetwork("lan", 203, at), ownNetwork("dmz", 204, at)] as const);
}

function ownNetwork(kind: string, second: number, at: number): SiteNetwork {
  // Nothing on this host gets one of these addresses or a route there, so they clash with nobody's.
  return { name: `${kind}${at}`, bridge: `${site.bridgePrefix}-${kind}${at}`, subnet: `10.${second}.${at * 4}.0/22` };
}

export function networkConf({ name, bridge, subnet }: SiteNetwork): string {
  return JSON.stringify({
    cniVersion: "1.0.0",
    name,
    type: "bridge",
    bridge,
    // As gateway the plugin would switch on forwarding on this host.
    isGateway: false,
    ipMasq: false,
    ipam: { type: "host-local", dataDir: sitePaths.ipam, ranges: [[{ subnet }]] },
  });
}

export interface SitePods {
  readonly burst: readonly SitePod[];
  readonly second: readonly SitePod[];
}

export interface SitePod extends FleetPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly priority: number | undefined;
}

/** system-node-critical */
const criticalPriority = 2_000_001_000;

/** Pods in the order of their networks; those of the second namespace are on the networks of the first pods. */
export function sitePods(plan: StormPlan): SitePods {
  const annotationsOf = plan.delegates.length === 0 ? ownAnnotations : siteAnnotations(plan.delegates.length);
  const pod = (namespace: string, at: number, priority: number | undefined): SitePod => ({
    namespace,
    name: `pod-${at}`,
    uid: `${namespace}-${at}`,
    annotations: annotationsOf(at),
    priority,
  });
  const { burst, second } = site.namespaces;
  return {
    second: counted(plan.second.pods, (at) => pod(second, at, plan.second.isCritical ? criticalPriority : undefined)),
    burst: counted(plan.pods, (at) => pod(burst, at + plan.second.pods, undefined)),
  };
}

function counted<T>(length: number, make: (at: number) => T): readonly T[] {
  return Array.from({ length }, (_, at) => make(at));
}

function ownAnnotations(at: number): Readonly<Record<string, string>> {
  const group = Math.floor(at / podsPerBridge);
  const dmz = { "k8s.v1.cni.cncf.io/networks": `${site.namespaces.networks}/dmz${group}` };
  // The first is the default network of every pod; only those who must be on another bridge say so.
  return group === 0 ? dmz : { ...dmz, "v1.multus-cni.io/default-network": `${site.namespaces.networks}/lan${group}` };
}

function siteAnnotations(delegates: number): () => Readonly<Record<string, string>> {
  const names = counted(delegates - 1, (at) => `${site.namespaces.networks}/site${at + 1}`);
  const annotations: Readonly<Record<string, string>> =
    names.length === 0 ? {} : { "k8s.v1.cni.cncf.io/networks": names.join(",") };
  return () => annotations;
}

/** The daemon's configuration: every folder it could write to is inside the site. */
export function daemonConfig(clusterNetwork: string, binDir: string): string {
  const config = {
    cniVersion: "1.0.0",
    socketDir: site.runDir,
    stateDir: sitePaths.journal,
    directory: sitePaths.directory,
    clusterNetwork,
    multusNamespace: site.namespaces.networks,
    confDir: join(site.stateDir, "conf.d"),
    cniDir: join(site.stateDir, "multus"),
    binDir,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** JSON is YAML, and cheaper to write. */
export function networkManifest(name: string, config: string): string {
  return JSON.stringify({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace: site.namespaces.networks },
    spec: { config },
  });
}

export function podManifest({ name, namespace, uid, annotations, priority }: SitePod): string {
  const spec = priority === undefined ? {} : { spec: { priority } };
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace, uid, annotations }, ...spec });
}
