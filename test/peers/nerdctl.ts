import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

const tests = "github.com/containerd/nerdctl/mod/tigron";

/** containerd's command line for people, which loads the image's archive. */
export function nerdctl(): Promise<Peer> {
  return modulePrograms({
    name: "nerdctl",
    module: "github.com/containerd/nerdctl/v2",
    version: "v2.1.6",
    packages: ["cmd/nerdctl"],
    // Its tests are a module of their own in this folder, which the published module lacks.
    added: { "mod/tigron/go.mod": `module ${tests}\n` },
  });
}
