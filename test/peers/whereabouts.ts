import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** whereabouts, an IPAM plugin that keeps its addresses in the API server, with its definitions and its rights. */
export function whereabouts(): Promise<Peer> {
  return modulePrograms({
    name: "whereabouts",
    module: "github.com/k8snetworkplumbingwg/whereabouts",
    version: "v0.9.3",
    packages: [],
    named: { cmd: "whereabouts" },
    files: [
      "doc/crds/daemonset-install.yaml",
      "doc/crds/whereabouts.cni.cncf.io_ippools.yaml",
      "doc/crds/whereabouts.cni.cncf.io_nodeslicepools.yaml",
      "doc/crds/whereabouts.cni.cncf.io_overlappingrangeipreservations.yaml",
    ],
  });
}
