import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** 3.2 is the first that knows `retry.refresh`, and the last whose module needs no folder beside it. v3.2.12 does not compile. */
const version = "v3.2.11";
const module = "github.com/argoproj/argo-cd/v3";

/** Argo CD: one program that is each of its parts by name, and the manifest that installs it. */
export function argoCd(): Promise<Peer> {
  return modulePrograms({
    name: "argocd",
    module,
    version,
    packages: [],
    named: { cmd: "argocd" },
    files: ["manifests/install.yaml"],
    ldflags: `-X ${module}/common.version=${version.slice(1)}`,
  });
}
