import { lineAt } from "./source-text.ts";
import type { Tree } from "./tree.ts";

export interface RustConstants {
  readonly file: string;
  readonly numbers: ReadonlyMap<string, { readonly number: number; readonly line: number }>;
}

/** The `const PREFIX_NAME: u8 = n;` of the shim, by NAME; undefined while the shim has none. */
export function rustConstants(tree: Tree, prefix: string): RustConstants | undefined {
  const pattern = new RegExp(`\\bconst ${prefix}([A-Z0-9_]+): u8 = (\\d+);`, "g");
  for (const file of tree.files.filter((path) => path.startsWith("shim/src/") && path.endsWith(".rs"))) {
    const text = tree.read(file) ?? "";
    const found = [...text.matchAll(pattern)];
    if (found.length === 0) continue;
    const numbers = new Map(
      found.map((match) => [match[1] ?? "", { number: Number(match[2]), line: lineAt(text, match.index) }]),
    );
    return { file, numbers };
  }
  return undefined;
}
