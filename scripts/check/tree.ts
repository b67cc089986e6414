import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** The files of the repository that the rules see: all that are committed or would be. */
export interface Tree {
  readonly root: string;
  /** Paths relative to the root, with `/`, sorted. */
  readonly files: readonly string[];
  /** The text of a file, or undefined when there is no such file. */
  read(path: string): string | undefined;
}

/** The files that git tracks or would add, so that a rule finds a problem before the commit. */
export function repositoryTree(root: string): Tree {
  const files = (listedByGit(root) ?? listedByHand(root)).filter((path) => existsSync(join(root, path)));
  const texts = new Map<string, string>();
  return {
    root,
    files: files.toSorted(),
    read(path) {
      if (!texts.has(path) && files.includes(path)) texts.set(path, readFileSync(join(root, path), "utf8"));
      return texts.get(path);
    },
  };
}

function listedByGit(root: string): readonly string[] | undefined {
  try {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return [...new Set(listed.split("\0"))].filter((path) => path !== "");
  } catch {
    // Without git, or in an unpacked archive.
    return undefined;
  }
}

const notSource = /^(?:\.git|node_modules|dist|\.cache|shim\/target)(?:\/|$)/;

function listedByHand(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !notSource.test(path) && !path.endsWith(".tmp"));
}

/** A tree made by hand, for the tests of the rules. */
export function plantedTree(texts: Readonly<Record<string, string>>, root = "/nowhere"): Tree {
  return { root, files: Object.keys(texts).toSorted(), read: (path) => texts[path] };
}

/** TypeScript that ships, without tests, which may use anything. */
export function productFiles(tree: Tree): readonly string[] {
  return tree.files.filter((path) => path.startsWith("src/") && path.endsWith(".ts") && !isTestFile(path));
}

/** Tests and files that only tests use: `x.test.ts`, `x.fixture.ts`, and the folder test/. */
export function isTestFile(path: string): boolean {
  return /\.(?:test|fixture)\.ts$/.test(path) || path.startsWith("test/");
}
