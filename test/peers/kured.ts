import { join } from "node:path";
import { modulePrograms } from "./module-programs.ts";
import { isBuilt, peerFolder, type Peer } from "./peer.ts";

const version = "v0.0.0-00010101000000-000000000000";

/** kured, which reboots nodes one after another; built once. */
export function kured(): Promise<Peer> {
  return modulePrograms({ name: "kured", module: "github.com/kubereboot/kured", version, packages: ["cmd/kured"] });
}

/** The program when it has been built already, or undefined: a run without `--peers` builds none of it. */
export function builtKured(): string | undefined {
  const bin = join(peerFolder("kured", version), "bin");
  return isBuilt(bin, ["kured"]) ? join(bin, "kured") : undefined;
}
