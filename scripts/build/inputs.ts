import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** One hash over everything that determines a part: names and content of its inputs, and the tool. */
export function inputsHash(root: string, inputs: readonly string[], tool: string): string {
  const hash = createHash("sha256").update(tool);
  for (const input of inputs) {
    for (const path of filesUnder(root, input)) {
      const content = readFileSync(join(root, path));
      hash.update(`\0${path}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex");
}

/** Files of an input, sorted, without tests, which are no part of a program. A missing input is empty. */
function filesUnder(root: string, input: string): readonly string[] {
  const stats = statSync(join(root, input), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [input];
  return readdirSync(join(root, input), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(?:test|fixture)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}
