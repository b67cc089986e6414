import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** The versions that people move from. */
export type MultusVersion = "v4.2.2" | "v4.3.0";

const programs = ["cmd/multus-daemon", "cmd/multus-shim", "cmd/passthru-cni"];

/** Multus, which Levee takes the place of: its daemon, its shim and `passthru-cni`. */
export function multus(version: MultusVersion): Promise<Peer> {
  return modulePrograms({
    name: "multus",
    module: "gopkg.in/k8snetworkplumbingwg/multus-cni.v4",
    version,
    packages: programs,
  });
}
