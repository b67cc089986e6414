import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** A driver of Dynamic Resource Allocation with devices that do not exist: of the cluster's own Kubernetes version. */
export function draExampleDriver(): Promise<Peer> {
  return modulePrograms({
    name: "dra-example-driver",
    module: "sigs.k8s.io/dra-example-driver",
    version: "v0.2.1",
    packages: ["cmd/dra-example-kubeletplugin"],
  });
}
