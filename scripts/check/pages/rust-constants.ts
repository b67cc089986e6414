import { lineAt } from "../code/source-text.ts";

export interface RustConstant {
  readonly name: string;
  readonly number: number;
  readonly line: number;
}

/** Every `const NAME: u8 = n;` of a Rust file. */
export function rustConstants(source: string): readonly RustConstant[] {
  return [...source.matchAll(/^\s*(?:pub(?:\([a-z]+\))? )?const ([A-Z0-9_]+): u8 = (\d+);/gm)].map((match) => ({
    name: match[1] ?? "",
    number: Number(match[2]),
    line: lineAt(source, match.index + match[0].indexOf("const")),
  }));
}
