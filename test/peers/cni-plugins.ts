import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** Newer than any distribution's: the first that know STATUS and GC. */
const version = "v1.9.1";
const programs = [
  "plugins/ipam/dhcp",
  "plugins/ipam/host-local",
  "plugins/ipam/static",
  "plugins/main/bridge",
  "plugins/main/host-device",
  "plugins/main/ipvlan",
  "plugins/main/loopback",
  "plugins/main/macvlan",
  "plugins/main/ptp",
  "plugins/main/vlan",
  "plugins/meta/bandwidth",
  "plugins/meta/portmap",
  "plugins/meta/sbr",
  "plugins/meta/tuning",
];

/** The reference CNI plugins. */
export function cniPlugins(): Promise<Peer> {
  return modulePrograms({
    name: "cni-plugins",
    module: "github.com/containernetworking/plugins",
    version,
    packages: programs,
    ldflags: `-X github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion=${version}`,
  });
}
