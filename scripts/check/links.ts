import { dirname, normalize } from "node:path/posix";
import { anchorsOf, linksOf } from "./markdown.ts";
import type { Problem } from "./rule.ts";
import type { Tree } from "./tree.ts";

/** Every relative link of a page leads to a file or folder of the repository, and its anchor to a heading. */
export function linkProblems(tree: Tree): readonly Problem[] {
  return tree.files.filter((path) => path.endsWith(".md")).flatMap((path) => pageProblems(tree, path));
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
