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

const module = "github.com/containernetworking/plugins";
const versionFlag = `-X ${module}/pkg/utils/buildversion.BuildVersion=${version}`;

/** The reference CNI plugins. They lack the marks of a release, so Levee does not take them for upstream's. */
export function cniPlugins(): Promise<Peer> {
  return modulePrograms({ name: "cni-plugins", module, version, packages: programs, ldflags: versionFlag });
}

/** Two of them with the flags of upstream's own releases. */
export function releasedPlugins(): Promise<Peer> {
  return modulePrograms({
    name: "cni-plugins-released",
    module,
    version,
    packages: ["plugins/ipam/host-local", "plugins/main/bridge"],
    ldflags: `-extldflags -static ${versionFlag}`,
    asReleased: true,
  });
}
