import { errorCatalogue } from "../../../src/base/errors.ts";
import { knobsPageProblems } from "../../../src/config/knobs-page.ts";
import { FrameType } from "../../../src/wire/frame-type.ts";
import { tagNumber } from "../../../src/wire/tag.ts";
import { checksPageProblems } from "./checks-page.ts";
import { dependencyProblems } from "./dependencies-page.ts";
import { linkProblems } from "./links.ts";
import { plain, tableRows, type Row } from "./markdown.ts";
import { metricsPageProblems } from "./metrics-page.ts";
import { fileRule, type Problem } from "../rule.ts";
import { runbookProblems } from "./runbooks.ts";
import { rustConstants } from "./rust-constants.ts";
import type { Tree } from "../tree.ts";

/** Pages with tables of the code must agree with it, in both directions. */
export const docsInStep = fileRule("docs-in-step", (tree) => [
  ...errorPageProblems(tree, errorCatalogue),
  ...numberPageProblems(tree, {
    header: ["type", "name"],
    rustFile: "shim/src/wire/frame_type.rs",
    numbers: FrameType,
  }),
  ...numberPageProblems(tree, { header: ["tag", "name"], rustFile: "shim/src/wire/tag.rs", numbers: tagNumber }),
  ...knobProblems(tree),
  ...checksPageProblems(tree),
  ...dependencyProblems(tree),
  ...metricsPageProblems(tree),
  ...runbookProblems(tree),
  ...linkProblems(tree),
]);

/** docs/knobs.md repeats the tables of src/config, which also check its rows. */
function knobProblems(tree: Tree): readonly Problem[] {
  const file = "docs/knobs.md";
  return knobsPageProblems(tree.read(file) ?? "").map((message) => ({
    file,
    line: 0,
    message,
    remedy: "Copy the row as it is",
  }));
}

type Catalogue = Readonly<Record<string, { readonly cni: number; readonly meaning: string }>>;

const errorsPage = "docs/errors.md";

/** docs/errors.md has one row per code: code, CNI number, meaning, and what to do. */
export function errorPageProblems(tree: Tree, catalogue: Catalogue): readonly Problem[] {
  const rows = tableRows(tree.read(errorsPage) ?? "", ["code", "CNI", "meaning", "what to do"]);
  if (rows === undefined)
    return [inErrors(0, "the table of errors is missing", "Start it with: code | CNI | meaning | what to do")];
  const listed = new Set(rows.map((row) => plain(row.cells[0])));
  const missing = Object.keys(catalogue).filter((code) => !listed.has(code));
  return [
    ...missing.map((code) => inErrors(0, `the code ${code} is not on the page`, "Add its row")),
    ...rows.flatMap((row) => errorRowProblems(row, catalogue)),
    ...repeated(rows).map((row) => inErrors(row.line, `${plain(row.cells[0])} is there twice`, "Keep one row")),
  ];
}

function errorRowProblems(row: Row, catalogue: Catalogue): readonly Problem[] {
  const [code, cni, meaning, remedy] = row.cells.map(plain);
  const entry = catalogue[code ?? ""];
  if (entry === undefined) return [inErrors(row.line, `${code} is not in the catalogue`, "Remove the row")];
  const problems: Problem[] = [];
  if (cni !== String(entry.cni)) {
    problems.push(
      inErrors(row.line, `${code} has the CNI number ${cni}, the catalogue ${entry.cni}`, "Correct the page"),
    );
  }
  if (meaning !== entry.meaning) {
    problems.push(
      inErrors(row.line, `${code} means "${meaning}", in the catalogue "${entry.meaning}"`, "Correct the page"),
    );
  }
  if ((remedy ?? "") === "")
    problems.push(inErrors(row.line, `${code} does not say what to do`, "Fill the last column"));
  return problems;
}

function inErrors(line: number, message: string, remedy: string): Problem {
  return { file: errorsPage, line, message, remedy };
}

interface NumberTable {
  readonly header: readonly string[];
  readonly rustFile: string;
  readonly numbers: Readonly<Record<string, number>>;
}

const protocolPage = "docs/protocol.md";

/** docs/protocol.md, src/wire and the shim have the same numbers. */
export function numberPageProblems(tree: Tree, table: NumberTable): readonly Problem[] {
  const what = table.header[0] ?? "";
  const rows = tableRows(tree.read(protocolPage) ?? "", table.header);
  if (rows === undefined)
    return [inProtocol(0, `the table of ${what}s is missing`, `Start it with: ${table.header.join(" | ")}`)];
  const page = new Map(rows.map((row) => [plain(row.cells[1]), Number(row.cells[0])]));
  return [
    ...differences(page, table.numbers, "src/wire").map((message) =>
      inProtocol(0, `${what} ${message}`, "Make page and code agree"),
    ),
    ...repeated(rows).map((row) =>
      inProtocol(row.line, `the ${what} ${row.cells[0]} is there twice`, "Numbers are never reused"),
    ),
    ...shimProblems(tree, table),
  ];
}

function shimProblems(tree: Tree, table: NumberTable): readonly Problem[] {
  const constants = rustConstants(tree.read(table.rustFile) ?? "");
  if (constants.length === 0) {
    return [
      { file: table.rustFile, line: 0, message: "no numbers found", remedy: "Write them as const NAME: u8 = n;" },
    ];
  }
  // The shim names only the numbers it uses, so it may have fewer, but no others.
  return constants.flatMap(({ name, number, line }): Problem[] => {
    const known = table.numbers[name] ?? table.numbers[name.toLowerCase()];
    if (known === number) return [];
    const message = `${name} is ${number}, in src/wire it is ${known ?? "unknown"}`;
    return [{ file: table.rustFile, line, message, remedy: "Make shim and daemon agree" }];
  });
}

function differences(
  page: ReadonlyMap<string, number>,
  code: Readonly<Record<string, number>>,
  where: string,
): readonly string[] {
  const names = new Set([...page.keys(), ...Object.keys(code)]);
  return [...names]
    .filter((name) => page.get(name) !== code[name])
    .map((name) => `${name} is ${page.get(name) ?? "missing"} on the page and ${code[name] ?? "missing"} in ${where}`);
}

function inProtocol(line: number, message: string, remedy: string): Problem {
  return { file: protocolPage, line, message, remedy };
}

function repeated(rows: readonly Row[]): readonly Row[] {
  return rows.filter((row, index) => rows.findIndex((other) => other.cells[0] === row.cells[0]) !== index);
}
