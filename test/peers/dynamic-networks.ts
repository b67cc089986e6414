import { dirname } from "node:path";
import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

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
