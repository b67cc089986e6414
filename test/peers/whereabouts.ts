import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** whereabouts, an IPAM plugin that keeps its addresses in the API server, with its definitions and its rights. */
export function whereabouts(): Promise<Peer> {
  return modulePrograms({
    name: "whereabouts",
    module: "github.com/k8snetworkplumbingwg/whereabouts",
    // Newer ones are not in every copy of the database of checksums.
    version: "v0.8.0",
    packages: [],
    named: { cmd: "whereabouts" },
    files: [
      "doc/crds/daemonset-install.yaml",
      "doc/crds/whereabouts.cni.cncf.io_ippools.yaml",
      "doc/crds/whereabouts.cni.cncf.io_overlappingrangeipreservations.yaml",
    ],
  });
}
