import { fileRule, type Problem } from "../rule.ts";
import type { Tree } from "../tree.ts";
import { lineAt, parse } from "./source-text.ts";

interface Place {
  readonly file: string;
  readonly line: number;
}

/** An exported name means one thing in the whole of src/. A re-export is not a second meaning. */
export const oneWord = fileRule("one-word", (tree) => {
  const places = new Map<string, Place[]>();
  for (const file of tree.files.filter((path) => /^src\/.*(?<!\.test)\.ts$/u.test(path))) {
    for (const [name, line] of declaredNames(tree, file)) {
      places.set(name, [...(places.get(name) ?? []), { file, line }]);
    }
  }
  return [...places].flatMap(([name, [first, ...further]]) =>
    further.map((place): Problem => ({
      ...place,
      message: `${name} is exported by ${first?.file} too`,
      remedy: "Give the other thing a name of its own, or let both use one declaration",
    })),
  );
});

/** Names that a file declares and exports, each with its first line. */
function declaredNames(tree: Tree, file: string): ReadonlyMap<string, number> {
  const source = tree.read(file) ?? "";
  const { staticExports, staticImports } = parse(source).module;
  const imported = new Set(staticImports.flatMap(({ entries }) => entries.map(({ localName }) => localName.value)));
  const names = new Map<string, number>();
  for (const { exportName, localName, moduleRequest, start } of staticExports.flatMap(({ entries }) => entries)) {
    const isOwn = moduleRequest === null && !imported.has(localName.name ?? "");
    if (isOwn && exportName.name !== null && !names.has(exportName.name))
      names.set(exportName.name, lineAt(source, start));
  }
  return names;
}
