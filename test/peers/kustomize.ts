import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** kustomize as a program of its own: Argo CD runs it for a folder with a kustomization. */
export function kustomize(): Promise<Peer> {
  return modulePrograms({
    name: "kustomize",
    module: "sigs.k8s.io/kustomize/kustomize/v5",
    version: "v5.7.1",
    packages: [],
    named: { ".": "kustomize" },
  });
}
