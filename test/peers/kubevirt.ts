import { readFileSync } from "node:fs";
import { join } from "node:path";
import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

const version = "v1.8.4";
const words = "cmd/launcher-words";

/** A program of ours with the parts of KubeVirt's controller that write and read annotations of a machine's pod. */
export function kubevirt(): Promise<Peer> {
  return modulePrograms({
    name: "kubevirt",
    module: "kubevirt.io/kubevirt",
    version,
    packages: [words],
    replaces: { "kubevirt.io/api": version, "kubevirt.io/client-go": version },
    added: { [`${words}/main.go`]: readFileSync(join(import.meta.dir, "launcher-words.go"), "utf8") },
  });
}
