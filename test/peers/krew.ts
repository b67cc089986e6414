import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** kubectl's plugin manager, which installs `kubectl levee`. */
export function krew(): Promise<Peer> {
  return modulePrograms({ name: "krew", module: "sigs.k8s.io/krew", version: "v0.4.4", packages: ["cmd/krew"] });
}
