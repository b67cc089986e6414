import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** containerd's command line for people, which loads the image's archive. */
export function nerdctl(): Promise<Peer> {
  return modulePrograms({
    name: "nerdctl",
    module: "github.com/containerd/nerdctl",
    version: "v1.7.7",
    packages: ["cmd/nerdctl"],
  });
}
