import { Visitor } from "oxc-parser";
import { lineAt, parse, type Language } from "./source-text.ts";

/** One import or re-export of a file. */
export interface Import {
  /** As written: `./x.ts`, `node:fs`, `yaml`. */
  readonly from: string;
  readonly line: number;
  readonly isType: boolean;
  readonly isDynamic: boolean;
}

/** All imports of a TypeScript file, type imports and dynamic ones too. */
export function importsOf(source: string, language: Language = "ts"): readonly Import[] {
  const found: Import[] = [];
  const add = (node: { readonly start: number }, from: unknown, kind: Pick<Import, "isType" | "isDynamic">): void => {
    if (typeof from === "string") found.push({ from, line: lineAt(source, node.start), ...kind });
  };
  const fixed = (kind: "type" | "value" | undefined): Pick<Import, "isType" | "isDynamic"> => ({
    isType: kind === "type",
    isDynamic: false,
  });
  new Visitor({
    ImportDeclaration: (node) => add(node, node.source.value, fixed(node.importKind)),
    ExportNamedDeclaration: (node) => add(node, node.source?.value, fixed(node.exportKind)),
    ExportAllDeclaration: (node) => add(node, node.source.value, fixed(node.exportKind)),
    ImportExpression: ({ start, source: from }) =>
      add({ start }, from.type === "Literal" ? from.value : undefined, { isType: false, isDynamic: true }),
    // `typeof import("x")` loads nothing.
    TSImportType: (node) => add(node, node.source.value, { isType: true, isDynamic: true }),
  }).visit(parse(source, language).program);
  return found;
}
