import { join } from "node:path";
import { stringify } from "yaml";
import { uplinkAnnotation } from "../../base/annotations.ts";
import type { PodKey } from "../node/names.ts";

/** The names of everything that the demo makes on this machine and removes again. */
export interface Site {
  readonly runDir: string;
  readonly stateDir: string;
  readonly networks: readonly SiteNetwork[];
  readonly pod: PodKey;
}

export interface SiteNetwork {
  readonly name: string;
  readonly bridge: string;
  readonly subnets: readonly SiteSubnet[];
  /** Whether pods get their default route through it. */
  readonly isDefaultRoute: boolean;
}

interface SiteSubnet {
  readonly subnet: string;
  readonly gateway: string;
  readonly prefixLength: number;
}

/** The demo's own names do not clash with an installation in /run/levee and /var/lib/levee. */
export function demoSite(hasIpv6: boolean): Site {
  const v6: readonly SiteSubnet[] = hasIpv6
    ? [{ subnet: "fd00:202::/64", gateway: "fd00:202::1", prefixLength: 64 }]
    : [];
  return {
    runDir: "/run/levee-demo",
    stateDir: "/var/lib/levee-demo",
    pod: { namespace: "default", name: "demo" },
    networks: [
      {
        name: "lan",
        bridge: "levee-lan0",
        isDefaultRoute: true,
        subnets: [{ subnet: "10.201.0.0/24", gateway: "10.201.0.1", prefixLength: 24 }],
      },
      {
        name: "dmz",
        bridge: "levee-dmz0",
        isDefaultRoute: false,
        subnets: [{ subnet: "10.202.0.0/24", gateway: "10.202.0.1", prefixLength: 24 }, ...v6],
      },
    ],
  };
}

export function sitePaths(site: Site): SitePaths {
  const at = (...parts: readonly string[]): string => join(site.stateDir, ...parts);
  return {
    config: at("daemon-config.json"),
    directory: at("directory"),
    networks: at("directory", "networks"),
    pods: at("directory", "pods"),
    ipam: at("ipam"),
    daemonLog: at("daemon.log"),
    handLog: at("hand.log"),
  };
}

interface SitePaths {
  readonly config: string;
  readonly directory: string;
  readonly networks: string;
  readonly pods: string;
  readonly ipam: string;
  readonly daemonLog: string;
  readonly handLog: string;
}

/** The daemon's configuration: all its folders are inside the site. */
export function daemonConfig(site: Site, binDir: string): string {
  const { directory } = sitePaths(site);
  const config = {
    cniVersion: "1.0.0",
    socketDir: site.runDir,
    stateDir: site.stateDir,
    directory,
    clusterNetwork: site.networks[0]?.name ?? "",
    multusNamespace: site.pod.namespace,
    confDir: join(site.stateDir, "conf.d"),
    cniDir: join(site.stateDir, "multus"),
    binDir,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** A NetworkAttachmentDefinition with the plugins bridge and host-local. */
export function networkYaml(site: Site, network: SiteNetwork): string {
  const config = {
    cniVersion: "1.0.0",
    name: network.name,
    type: "bridge",
    bridge: network.bridge,
    // The demo makes the bridge and its addresses. With isGateway the plugin would switch on forwarding on this host.
    isGateway: false,
    ipMasq: false,
    ipam: {
      type: "host-local",
      dataDir: sitePaths(site).ipam,
      ranges: network.subnets.map(({ subnet, gateway }) => [{ subnet, gateway }]),
      routes: network.isDefaultRoute ? [{ dst: "0.0.0.0/0" }] : [],
    },
  };
  return stringify({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: {
      name: network.name,
      namespace: site.pod.namespace,
      // The demo's bridge leads nowhere, on purpose.
      annotations: { [uplinkAnnotation]: "none" },
    },
    spec: { config: JSON.stringify(config, undefined, 2) },
  });
}
