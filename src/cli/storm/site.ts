import { join } from "node:path";
import type { FleetPod } from "./fleet.ts";
import type { StormPlan } from "./plan.ts";

/**
 * The names of everything that a storm makes on this machine. They are fixed, and the folder in /run is the marker, so the
 * next storm finds and removes what a killed one left.
 */
export const site = {
  name: "levee-storm",
  runDir: "/run/levee-storm",
  /** The file for the next storm, in case this one is killed. */
  marker: "/run/levee-storm/marker.json",
  calls: "/run/levee-storm/calls",
  group: "levee-storm",
  netnsPrefix: "levee-storm-",
  bridgePrefix: "lvstorm",
  /** All container IDs start with this, so that we recognize our addresses in the site's own folders. */
  containerIdPrefix: "1e4ee570412e4ee5",
  namespaces: { burst: "storm", second: "bystanders", networks: "levee-storm" },
} as const;

/** The storm's paths below its work folder. */
export function stormPaths(workDir: string): StormPaths {
  const at = (...parts: readonly string[]): string => join(workDir, site.name, ...parts);
  return {
    root: at(),
    image: join(workDir, `${site.name}.img`),
    config: at("daemon-config.json"),
    program: at("levee"),
    journal: at("state"),
    directory: at("directory"),
    networks: at("directory", "networks"),
    pods: at("directory", "pods"),
    ipam: at("ipam"),
    confDir: at("conf.d"),
    cniDir: at("multus"),
    daemonLog: at("daemon.log"),
    handLog: at("hand.log"),
  };
}

export interface StormPaths {
  readonly root: string;
  /** Image of the storm's own disk, if it has one; the disk is mounted on `root`. */
  readonly image: string;
  readonly config: string;
  readonly program: string;
  readonly journal: string;
  readonly directory: string;
  readonly networks: string;
  readonly pods: string;
  readonly ipam: string;
  readonly confDir: string;
  readonly cniDir: string;
  readonly daemonLog: string;
  readonly handLog: string;
}

/** The kernel allows 1,024 ports on a bridge, and a /22 has as many addresses. */
const podsPerBridge = 900;

export interface OwnNetwork {
  readonly name: string;
  readonly bridge: string;
  readonly subnet: string;
}

/** Two networks for every 900 pods. */
export function ownNetworks(plan: StormPlan): readonly (readonly [OwnNetwork, OwnNetwork])[] {
  const groups = Math.ceil((plan.pods + plan.second.pods) / podsPerBridge);
  return Array.from({ length: groups }, (_, at) => [ownNetwork("lan", 203, at), ownNetwork("dmz", 204, at)] as const);
}

function ownNetwork(kind: string, second: number, at: number): OwnNetwork {
  // The host itself gets no address or route in these networks, so they cannot clash with its own.
  return { name: `${kind}${at}`, bridge: `${site.bridgePrefix}-${kind}${at}`, subnet: `10.${second}.${at * 4}.0/22` };
}

export interface StormPods {
  readonly burst: readonly StormPod[];
  readonly second: readonly StormPod[];
}

export interface StormPod extends FleetPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly priority: number | undefined;
}

/** system-node-critical */
const criticalPriority = 2_000_001_000;

/** The pods of both namespaces. Those of the second one are on the first networks. */
export function stormPods(plan: StormPlan): StormPods {
  const annotationsOf = plan.delegates.length === 0 ? ownAnnotations : siteAnnotations(plan.delegates.length);
  const pod = (namespace: string, at: number, priority: number | undefined): StormPod => ({
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
  // lan0 is the default network of every pod; only pods on another bridge need the annotation.
  return group === 0 ? dmz : { ...dmz, "v1.multus-cni.io/default-network": `${site.namespaces.networks}/lan${group}` };
}

function siteAnnotations(delegates: number): () => Readonly<Record<string, string>> {
  const names = counted(delegates - 1, (at) => `${site.namespaces.networks}/site${at + 1}`);
  const annotations: Readonly<Record<string, string>> =
    names.length === 0 ? {} : { "k8s.v1.cni.cncf.io/networks": names.join(",") };
  return () => annotations;
}
