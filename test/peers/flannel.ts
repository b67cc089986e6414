import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

const flannelVersion = "v0.28.9";

/** The backend for one cloud is left out: not every module proxy offers that cloud's library. */
const withoutTencent = { "pkg/backend/tencentvpc/tencentvpc.go": "package tencentvpc\n" };

/** Flannel's daemon, which gives a node its part of the pods' addresses and routes to the others, with its manifest. */
export function flanneld(): Promise<Peer> {
  return modulePrograms({
    name: "flannel",
    module: "github.com/flannel-io/flannel",
    version: flannelVersion,
    packages: [],
    named: { ".": "flanneld" },
    files: ["Documentation/kube-flannel.yml"],
    added: withoutTencent,
    ldflags: `-X github.com/flannel-io/flannel/pkg/version.Version=${flannelVersion}`,
  });
}

/**
 * Flannel's CNI plugin, of the last version of the reference plugins that has it. Since then it is a module of its own,
 * github.com/flannel-io/cni-plugin, which not every module proxy offers.
 */
export function flannelPlugin(): Promise<Peer> {
  return modulePrograms({
    name: "flannel-plugin",
    module: "github.com/containernetworking/plugins",
    version: "v0.9.1",
    packages: ["plugins/meta/flannel"],
  });
}
