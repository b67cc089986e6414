import { checkCodes } from "../../../src/cli/check/check-codes.ts";
import { lintCodes } from "../../../src/lint/lint-codes.ts";
import type { Problem } from "../rule.ts";
import type { Tree } from "../tree.ts";

type Codes = Readonly<Record<string, { readonly title: string; readonly means: string; readonly todo: string }>>;

/** A page with one section per code of a command, because hints link to its anchor. */
interface CodePage {
  readonly file: string;
  readonly command: string;
  readonly codes: Codes;
}

const pages: readonly CodePage[] = [
  { file: "docs/checks.md", command: "levee check", codes: checkCodes },
  { file: "docs/lint.md", command: "levee lint", codes: lintCodes },
];

/** Each page has a section for each code, with the table's words. */
export function checksPageProblems(tree: Tree, all: readonly CodePage[] = pages): readonly Problem[] {
  return all.flatMap((page) => pageProblems(tree, page));
}

function pageProblems(tree: Tree, { file, command, codes }: CodePage): readonly Problem[] {
  const problem = (line: number, message: string, remedy: string): Problem => ({ file, line, message, remedy });
  const parts = partsOf(tree.read(file) ?? "");
  const missing = Object.keys(codes).filter((code) => !parts.has(code));
  const further = [...parts].flatMap(([code, { line, text }]): readonly Problem[] => {
    const known = codes[code];
    if (known === undefined) return [problem(line, `${code} is no code of ${command}`, "Remove its part")];
    return [known.title, known.means, known.todo]
      .filter((words) => !text.includes(words))
      .map((words) => problem(line, `the part of ${code} does not say: ${words}`, "Write it as the table has it"));
  });
  return [...missing.map((code) => problem(0, `${code} has no part`, `Add ## ${code}`)), ...further];
}

function partsOf(page: string): ReadonlyMap<string, { readonly line: number; readonly text: string }> {
  const parts = new Map<string, { line: number; text: string }>();
  let current: { line: number; text: string } | undefined;
  for (const [index, line] of page.split("\n").entries()) {
    const code = /^## (LV[EN]\d{4})$/u.exec(line)?.[1];
    if (code !== undefined) parts.set(code, (current = { line: index + 1, text: "" }));
    else if (current !== undefined) current.text += `${line}\n`;
  }
  return parts;
}
