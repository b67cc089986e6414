import { dirname } from "node:path";
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

/**
 * multus-dynamic-networks-controller, which changes networks of running pods through Multus. Not every module proxy offers
 * it; `LEVEE_DYNAMIC_NETWORKS` names a program `dynamic-networks-controller` that came another way.
 */
export function dynamicNetworks(): Promise<Peer> {
  const given = process.env["LEVEE_DYNAMIC_NETWORKS"] ?? "";
  if (given !== "") return Promise.resolve({ folder: dirname(given) });
  return modulePrograms({
    name: "dynamic-networks",
    module: "github.com/k8snetworkplumbingwg/multus-dynamic-networks-controller",
    version: "v0.3.7",
    packages: ["cmd/dynamic-networks-controller"],
  });
}
