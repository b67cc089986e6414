import { debianPrograms } from "./debian-programs.ts";
import type { Peer } from "./peer.ts";

export async function openVswitch(): Promise<Peer> {
  return debianPrograms({
    name: "open-vswitch",
    packages: ["openvswitch-switch", "openvswitch-common"],
    without: ["kmod", "netbase", "procps", "openssl", "uuid-runtime", "python3-netifaces", "python3-openvswitch"],
    proof: "usr/share/openvswitch/vswitch.ovsschema",
  });
}
