import { existsSync } from "node:fs";
import { join } from "node:path";
import { modulePrograms } from "./module-programs.ts";
import { peerFolder, type Peer } from "./peer.ts";

/** Release 1.23.0. Its tags have no `v`, so Go knows it by its commit. */
const version = "v0.0.0-20260630112732-ef3c90b2bd58";

/** kured, which reboots nodes one after another; built once. */
export function kured(): Promise<Peer> {
  return modulePrograms({ name: "kured", module: "github.com/kubereboot/kured", version, packages: ["cmd/kured"] });
}

/**
 * The program when it is there already, or undefined: the ordinary tests build nothing. Not every module proxy offers
 * kured; `LEVEE_KURED` names one that came another way.
 */
export function builtKured(): string | undefined {
  const given = process.env["LEVEE_KURED"] ?? "";
  const program = given === "" ? join(peerFolder("kured", version), "bin/kured") : given;
  return existsSync(program) ? program : undefined;
}
