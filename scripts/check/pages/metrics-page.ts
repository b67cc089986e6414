import { plain, tableRows } from "./markdown.ts";
import type { Problem } from "../rule.ts";
import { lineAt } from "../code/source-text.ts";
import { productFiles, type Tree } from "../tree.ts";

const page = "docs/metrics.md";
/** Daemon and guard register metrics under literal names. */
const metricName = /"((?:levee|multus|process)_[a-z_]+)"/g;

/** Every metric has a row on docs/metrics.md, and every row a metric. */
export function metricsPageProblems(tree: Tree): readonly Problem[] {
  const rows = tableRows(tree.read(page) ?? "", ["metric", "type", "labels", "meaning"]);
  if (rows === undefined) return [onPage(0, "the table of metrics is missing", rowRemedy)];
  const listed = new Map(rows.map((row) => [plain(row.cells[0]), row.line]));
  const registered = registeredIn(tree);
  return [
    ...[...registered]
      .filter(([name]) => !listed.has(name))
      .map(([name, { file, line }]) => ({ file, line, message: `${name} is not on ${page}`, remedy: rowRemedy })),
    ...[...listed]
      .filter(([name]) => !registered.has(name))
      .map(([name, line]) => onPage(line, `${name} is no metric of ours`, "Remove the row")),
  ];
}

const rowRemedy = "Add a row: metric | type | labels | meaning";

function registeredIn(tree: Tree): ReadonlyMap<string, { readonly file: string; readonly line: number }> {
  const names = new Map<string, { readonly file: string; readonly line: number }>();
  for (const file of productFiles(tree).filter((path) => /^src\/(?:daemon|guard)\//u.test(path))) {
    const source = tree.read(file) ?? "";
    for (const match of source.matchAll(metricName)) {
      const name = match[1] ?? "";
      if (!names.has(name)) names.set(name, { file, line: lineAt(source, match.index) });
    }
  }
  return names;
}

function onPage(line: number, message: string, remedy: string): Problem {
  return { file: page, line, message, remedy };
}
