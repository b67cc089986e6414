import { dirname, normalize } from "node:path/posix";
import { fileRule, type Problem } from "../rule.ts";
import { isTestFile, type Tree } from "../tree.ts";
import { importsOf, type Import } from "./imports.ts";
import { blankCommentsAndStrings, lineAt, type Language } from "./source-text.ts";

/** What the page's script may contain. */
const packages = /^(?:preact|preact\/hooks|@preact\/signals|uplot)$/u;
/** The contract with the server: types, of which nothing is left in the script. */
const contract = /^src\/wire\/console-[a-z]+\.ts$/u;

interface PageDoor {
  readonly what: string;
  readonly calls: RegExp;
  /** The file that may; none when no file may. */
  readonly allowed?: string;
  readonly remedy: string;
}

const doors: readonly PageDoor[] = [
  {
    what: "markup from text",
    calls:
      /\b(?:dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|srcdoc)\b|\bdocument\.write(?:ln)?\b/gu,
    remedy: "Names that tenants choose are text: give them to Preact as children",
  },
  {
    what: "the network",
    calls: /(?<![.\w])fetch\s*\(|\bnew (?:WebSocket|EventSource|XMLHttpRequest)\b|\bsendBeacon\b/gu,
    allowed: "console/stream/server.ts",
    remedy: "Ask through console/stream/server.ts, which stays on the page's own origin",
  },
  {
    what: "time or randomness",
    calls:
      /\b(?:Date\.now|Math\.random|performance\.now)\b|(?<![.\w])(?:setTimeout|setInterval)\s*\(|\bnew Date\(\s*\)/gu,
    allowed: "console/base/clock.ts",
    remedy: "Use console/base/clock.ts",
  },
  {
    what: "storage of the browser",
    calls: /\b(?:localStorage|sessionStorage|indexedDB)\b|\bdocument\.cookie\b/gu,
    remedy: "The page keeps nothing: a token must not outlive its tab",
  },
];

/** What the console's page imports, and what no part of it does. */
export const pageRule = fileRule("page", (tree) =>
  tree.files
    .filter((path) => /^console\/.*\.tsx?$/u.test(path) && !isTestFile(path))
    .flatMap((path) => [...importProblems(tree, path), ...doorProblems(tree, path)]),
);

function languageOf(path: string): Language {
  return path.endsWith(".tsx") ? "tsx" : "ts";
}

function importProblems(tree: Tree, path: string): readonly Problem[] {
  return importsOf(tree.read(path) ?? "", languageOf(path))
    .filter((found) => !isAllowed(path, found))
    .map(({ from, line }) => ({
      file: path,
      line,
      message: `the page imports ${from}`,
      remedy: "It may import console/, types of src/wire/console-*.ts, preact, @preact/signals and uplot",
    }));
}

function isAllowed(path: string, { from, isType }: Import): boolean {
  if (!from.startsWith(".")) return packages.test(from);
  const target = normalize(`${dirname(path)}/${from}`);
  return target.startsWith("console/") || (isType && contract.test(target));
}

function doorProblems(tree: Tree, path: string): readonly Problem[] {
  const code = blankCommentsAndStrings(tree.read(path) ?? "", languageOf(path));
  return doors
    .filter(({ allowed }) => allowed !== path)
    .flatMap(({ what, calls, remedy }) =>
      [...code.matchAll(calls)].map((match) => ({
        file: path,
        line: lineAt(code, match.index),
        message: `${what}: ${match[0].replace(/\s*\($/u, "")}`,
        remedy,
      })),
    );
}
