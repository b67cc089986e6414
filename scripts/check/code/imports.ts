import { blankComments, blankCommentsAndStrings, lineAt } from "./source-text.ts";

/** One import or re-export of a file. */
export interface Import {
  /** As written: `./x.ts`, `node:fs`, `yaml`. */
  readonly from: string;
  readonly line: number;
  readonly isType: boolean;
  readonly isDynamic: boolean;
  /** The names between the braces; empty for a dynamic, default or bare import. */
  readonly names: readonly string[];
}

const staticImport = /^[ \t]*(?:import|export)\s+(type\s+)?([^"';=()]*?\bfrom\s*)?"([^"]+)"/gm;
const dynamicImport = /\bimport\(\s*"([^"]+)"\s*\)/g;

/** All imports of a TypeScript file, type imports and dynamic ones too. */
export function importsOf(source: string): readonly Import[] {
  const code = blankComments(source);
  // A program written as text inside a string, as tests do, is not this file's import.
  const bare = blankCommentsAndStrings(source);
  const isCode = (match: RegExpExecArray): boolean => /^\s*(?:import|export)\b/.test(bare.slice(match.index));
  const fixed = [...code.matchAll(staticImport)].filter(isCode).map((match) => ({
    from: match[3] ?? "",
    line: lineAt(code, match.index),
    isType: match[1] !== undefined,
    isDynamic: false,
    names: namesIn(match[2] ?? ""),
  }));
  const dynamic = [...code.matchAll(dynamicImport)].filter(isCode).map((match) => ({
    from: match[1] ?? "",
    line: lineAt(code, match.index),
    isType: isTypeQuery(code, match.index),
    isDynamic: true,
    names: [],
  }));
  return [...fixed, ...dynamic];
}

function namesIn(clause: string): readonly string[] {
  const inside = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
  const names = inside.split(",").map((name) => name.trim().split(/\s+as\s+/)[0] ?? "");
  return names.filter((name) => name !== "");
}

/** `typeof import("x")` loads nothing. */
function isTypeQuery(code: string, position: number): boolean {
  return /\btypeof\s+$/.test(code.slice(Math.max(0, position - 20), position));
}
