import { dirname, normalize } from "node:path/posix";
import { anchorsOf, linksOf } from "./markdown.ts";
import type { Problem } from "../rule.ts";
import type { Tree } from "../tree.ts";

/** Every relative link of a page leads to a file or folder, its anchor to a heading, and every source file it names exists. */
export function linkProblems(tree: Tree): readonly Problem[] {
  const pages = tree.files.filter((path) => path.endsWith(".md"));
  return pages.flatMap((path) => [...pageProblems(tree, path), ...namedFileProblems(tree, path)]);
}

/** `src/x/y.ts`, `shim/src/y.rs` or just `y.ts` in backticks; `x.test.ts` stands for any file. */
const namedFile = /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|rs))`/g;

function namedFileProblems(tree: Tree, page: string): readonly Problem[] {
  const lines = (tree.read(page) ?? "").split("\n");
  return lines.flatMap((text, index) =>
    [...text.matchAll(namedFile)]
      .map((match) => match[1] ?? "")
      .filter(
        (name) => !name.startsWith("x.") && !tree.files.some((file) => file === name || file.endsWith(`/${name}`)),
      )
      .map((name) => ({
        file: page,
        line: index + 1,
        message: `there is no file ${name}`,
        remedy: "Name the file as it is now",
      })),
  );
}

function pageProblems(tree: Tree, page: string): readonly Problem[] {
  return linksOf(tree.read(page) ?? "").flatMap(({ line, target }): readonly Problem[] => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page : normalize(`${dirname(page)}/${path}`).replace(/\/$/, "");
    if (!exists(tree, file)) {
      return [{ file: page, line, message: `the link ${target} leads nowhere`, remedy: "Correct or remove it" }];
    }
    const isLost = anchor !== undefined && file.endsWith(".md") && !anchorsOf(tree.read(file) ?? "").has(anchor);
    return isLost
      ? [{ file: page, line, message: `${file} has no heading for #${anchor}`, remedy: "Correct the anchor" }]
      : [];
  });
}

function exists(tree: Tree, path: string): boolean {
  return tree.files.some((file) => file === path || file.startsWith(`${path}/`));
}
