import { dirname, normalize } from "node:path/posix";
import { importsOf, type Import } from "./imports.ts";
import { fileRule, type Problem } from "./rule.ts";
import { isTestFile, type Tree } from "./tree.ts";

/**
 * What each folder of src/ may import: the table of ARCHITECTURE.md. A folder that is not here fails the check,
 * so a new one cannot appear without its place in the rings.
 */
export const allowedImports: Readonly<Record<string, readonly string[]>> = {
  base: [],
  view: ["base"],
  cni: ["base"],
  wire: ["base", "cni"],
  config: ["base", "cni"],
  attachment: ["base", "cni"],
  admission: ["base"],
  readiness: ["base"],
  state: ["base", "cni"],
  kube: ["base", "view"],
  directory: ["base", "view"],
  hands: ["base", "cni", "wire"],
  daemon: [
    "base",
    "view",
    "cni",
    "wire",
    "config",
    "attachment",
    "admission",
    "readiness",
    "state",
    "kube",
    "directory",
    "hands",
  ],
  guard: ["base", "config", "wire", "kube"],
  // attachment: `levee migrate --check` asks the very code that will judge a pod.
  // guard: `levee guard` runs it, and what it writes is shown by the commands.
  cli: ["base", "config", "wire", "cni", "attachment", "state", "kube", "readiness", "guard"],
  // src/main.ts: picks the daemon or the CLI and does nothing else.
  main: ["base", "config", "daemon", "cli"],
};

/** Packages of package.json that a folder may load, and how. Everything else in src/ is `node:` built-ins only. */
const allowedPackages: readonly { readonly folder: string; readonly name: string; readonly dynamicOnly: boolean }[] = [
  // Only the embedded default reads YAML; loaded late, so a daemon in a cluster never pays for it.
  { folder: "directory", name: "yaml", dynamicOnly: true },
  // A kubeconfig is YAML; inside a cluster none is read.
  { folder: "kube", name: "yaml", dynamicOnly: true },
  // The guard is a process of its own, and changes one field of a manifest in git.
  { folder: "guard", name: "yaml", dynamicOnly: false },
  { folder: "cli", name: "commander", dynamicOnly: false },
  // The commands are a process of their own and print YAML.
  { folder: "cli", name: "yaml", dynamicOnly: false },
];

export const rings = fileRule("rings", (tree) => {
  const sources = tree.files.filter((path) => path.startsWith("src/") && path.endsWith(".ts"));
  const graph = new Map(sources.map((path) => [path, importsOf(tree.read(path) ?? "")]));
  const problems: Problem[] = [];
  for (const [path, imports] of graph) {
    for (const found of imports) problems.push(...importProblems(tree, path, found));
  }
  return [...problems, ...cycleProblems(graph)];
});

function importProblems(tree: Tree, path: string, found: Import): readonly Problem[] {
  if (found.from.startsWith(".")) return relativeProblems(tree, path, found);
  if (found.from.startsWith("node:")) return [];
  if (isTestFile(path) && found.from === "bun:test") return [];
  const folder = folderOf(path);
  const allowed = allowedPackages.find((entry) => entry.folder === folder && entry.name === packageOf(found.from));
  if (allowed === undefined) {
    return [
      problem(
        path,
        found,
        `src/${folder} imports the package ${found.from}`,
        "Use node: built-ins, or write an ADR and add the package to allowedPackages",
      ),
    ];
  }
  if (allowed.dynamicOnly && !found.isDynamic && !found.isType && !isTestFile(path)) {
    return [
      problem(
        path,
        found,
        `${found.from} is imported at start-up`,
        `Load it where it is needed: await import("${found.from}")`,
      ),
    ];
  }
  return undeclared(tree, path, found);
}

function relativeProblems(tree: Tree, path: string, found: Import): readonly Problem[] {
  const target = targetOf(path, found);
  if (!tree.files.includes(target)) {
    return [problem(path, found, `${found.from} leads to no file: ${target}`, "Name the file with its .ts extension")];
  }
  if (!target.startsWith("src/")) {
    if (isTestFile(path) || isVersion(path, target) || isPage(path, target)) return [];
    return [
      problem(
        path,
        found,
        `src/ imports ${target}`,
        "What ships must not depend on scripts or tests: move it into src/",
      ),
    ];
  }
  const [from, to] = [folderOf(path), folderOf(target)];
  const allowed = allowedImports[from];
  if (allowed === undefined) {
    return [
      problem(
        path,
        found,
        `src/${from} has no place in the rings`,
        "Add the folder to allowedImports and to ARCHITECTURE.md",
      ),
    ];
  }
  if (from === to || allowed.includes(to)) return [];
  const may = allowed.length === 0 ? "nothing" : allowed.join(", ");
  return [
    problem(
      path,
      found,
      `src/${from} imports src/${to}, but may import only ${may}`,
      "Import downwards only: move the shared part to a lower ring, or pass it in",
    ),
  ];
}

/** The outermost ring may read the version from package.json. */
function isVersion(path: string, target: string): boolean {
  return target === "package.json" && ["daemon", "cli", "main"].includes(folderOf(path));
}

/** `levee explain` says what our pages say; the build puts their text into the program. */
function isPage(path: string, target: string): boolean {
  return folderOf(path) === "cli" && /^docs\/.*\.md$/u.test(target);
}

function undeclared(tree: Tree, path: string, found: Import): readonly Problem[] {
  const manifest = tree.read("package.json") ?? "{}";
  if (manifest.includes(`"${packageOf(found.from)}"`)) return [];
  return [
    problem(
      path,
      found,
      `the package ${found.from} is not in package.json`,
      "Add it, pinned, with its row in docs/dependencies.md",
    ),
  ];
}

/** Cycles between files, type imports included: a cycle of types is still two files nobody can read one at a time. */
function cycleProblems(graph: ReadonlyMap<string, readonly Import[]>): readonly Problem[] {
  const problems: Problem[] = [];
  const state = new Map<string, "open" | "done">();
  const trail: string[] = [];
  const visit = (path: string): void => {
    state.set(path, "open");
    trail.push(path);
    for (const found of graph.get(path) ?? []) {
      const target = found.from.startsWith(".") ? targetOf(path, found) : "";
      if (state.get(target) === "open") problems.push(cycle(trail, path, target, found));
      else if (graph.has(target) && !state.has(target)) visit(target);
    }
    trail.pop();
    state.set(path, "done");
  };
  for (const path of graph.keys()) if (!state.has(path)) visit(path);
  return problems;
}

function cycle(trail: readonly string[], path: string, target: string, found: Import): Problem {
  const loop = [...trail.slice(trail.indexOf(target)), target].join(" → ");
  return problem(path, found, `import cycle: ${loop}`, "Move what both need into a third file");
}

function targetOf(path: string, found: Import): string {
  return normalize(`${dirname(path)}/${found.from}`);
}

function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.length === 2 ? (parts[1] ?? "").replace(/(\.test)?\.ts$/, "") : (parts[1] ?? "");
}

function packageOf(from: string): string {
  const parts = from.split("/");
  return from.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

function problem(file: string, found: Import, message: string, remedy: string): Problem {
  return { file, line: found.line, message, remedy };
}
