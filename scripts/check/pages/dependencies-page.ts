import { plain, tableRows, type Row } from "./markdown.ts";
import type { Problem } from "../rule.ts";
import type { Tree } from "../tree.ts";

const page = "docs/dependencies.md";
const exactVersion = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/** Every package has a row with its version and a reason on docs/dependencies.md, and every version is exact. */
export function dependencyProblems(tree: Tree): readonly Problem[] {
  const declared = declaredVersions(tree.read("package.json") ?? "{}");
  const rows = tableRows(tree.read(page) ?? "", ["package", "version", "where", "why"]);
  if (rows === undefined)
    return [onPage(0, "the table of dependencies is missing", "Start it with: package | version | where | why")];
  const listed = new Map(rows.map((row) => [plain(row.cells[0]), row]));
  return [
    ...[...declared].flatMap(([name, version]) => packageProblems(name, version, listed.get(name))),
    ...[...listed]
      .filter(([name]) => !declared.has(name))
      .map(([name, row]) => onPage(row.line, `${name} is not in package.json`, "Remove the row")),
  ];
}

function packageProblems(name: string, version: string, row: Row | undefined): readonly Problem[] {
  const problems: Problem[] = [];
  if (!exactVersion.test(version))
    problems.push(inManifest(`${name} is not pinned: ${version}`, "Write the exact version"));
  if (row === undefined) return [...problems, onPage(0, `${name} has no row`, "Add the package with its reason")];
  if (plain(row.cells[1]) !== version) {
    problems.push(onPage(row.line, `${name} is ${version} in package.json`, "Correct the version"));
  }
  if ((row.cells[3] ?? "") === "") problems.push(onPage(row.line, `${name} has no reason`, "Say why we need it"));
  return problems;
}

function declaredVersions(manifest: string): ReadonlyMap<string, string> {
  const parsed: unknown = JSON.parse(manifest);
  const versions = new Map<string, string>();
  for (const key of ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]) {
    for (const [name, version] of entriesOf(parsed, key)) versions.set(name, String(version));
  }
  return versions;
}

function entriesOf(parsed: unknown, key: string): readonly [string, unknown][] {
  if (typeof parsed !== "object" || parsed === null) return [];
  const value = Object.entries(parsed).find(([name]) => name === key)?.[1] as unknown;
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function onPage(line: number, message: string, remedy: string): Problem {
  return { file: page, line, message, remedy };
}

function inManifest(message: string, remedy: string): Problem {
  return { file: "package.json", line: 0, message, remedy };
}
