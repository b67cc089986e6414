import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** A commit of the branch release-v3.28: the newest that module proxies offer. */
const version = "v1.11.0-cni-plugin.0.20250813170300-a0db560f0520";

/** Calico's CNI plugin, which is its IPAM plugin too under another name, with its manifest. */
export function calico(): Promise<Peer> {
  return modulePrograms({
    name: "calico",
    module: "github.com/projectcalico/calico",
    version,
    packages: ["cni-plugin/cmd/calico"],
    files: ["manifests/calico.yaml"],
    replaces: { "github.com/projectcalico/api": "v0.0.0-20240708202104-e3f70b269c2c" },
    ldflags: "-X main.VERSION=v3.28.5-dev",
  });
}
