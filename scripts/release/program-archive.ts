import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pluginFiles, type Programs } from "../build.ts";
import { FileTree } from "../image/file-tree.ts";
import { packed } from "./packed.ts";

const root = resolve(import.meta.dirname, "../..");

/** The commands for people's machines: `levee`, the shim that some of them run, and `kubectl levee`. No folder around them. */
export function programArchive({ levee, shim }: Programs, date: Date): Uint8Array {
  const tree = new FileTree();
  tree.file("LICENSE", readFileSync(join(root, "LICENSE")));
  tree.file("levee", readFileSync(levee), 0o755);
  tree.file("levee-shim", readFileSync(shim), 0o755);
  for (const name of pluginFiles) tree.file(name, readFileSync(join(root, "deploy/plugin", name)), 0o755);
  return packed(tree.entries, date);
}
