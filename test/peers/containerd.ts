import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** Newer than Debian 12's, which knows CNI up to 1.0.0 and no STATUS. */
export function newContainerd(): Promise<Peer> {
  return modulePrograms({
    name: "containerd",
    module: "github.com/containerd/containerd/v2",
    version: "v2.1.5",
    packages: ["cmd/containerd", "cmd/containerd-shim-runc-v2", "cmd/ctr"],
  });
}
