import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** The CNI plugin of Open vSwitch, as `ovs`. */
export function ovsCni(): Promise<Peer> {
  return modulePrograms({
    name: "ovs-cni",
    module: "github.com/k8snetworkplumbingwg/ovs-cni",
    version: "v0.39.0",
    packages: [],
    named: { "cmd/plugin": "ovs" },
  });
}
