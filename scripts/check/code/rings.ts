import { dirname, normalize } from "node:path/posix";
import { fileRule, type Problem } from "../rule.ts";
import { isTestFile } from "../tree.ts";
import { importsOf, type Import } from "./imports.ts";
import { roomImports } from "./room-imports.ts";

/**
 * The imports that each folder of src/ may have: the table of ARCHITECTURE.md. A folder that is not here fails the check,
 * so a new one needs a place in the rings.
 */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  base: [],
  view: ["base"],
  cni: ["base"],
  wire: ["base", "cni"],
  config: ["base", "cni"],
  attachment: ["base", "cni"],
  // attachment: lint judges a pod's annotation with the daemon's own code.
  lint: ["base", "cni", "attachment"],
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
    "lint",
    "admission",
    "readiness",
    "state",
    "kube",
    "directory",
    "hands",
  ],
  // lint: the guard warns of networks by the rules of `levee lint`.
  guard: ["base", "config", "wire", "lint", "kube"],
  // It runs the own parts of daemon and guard. Only commands import it, and late, so neither of them loads it.
  // admission: a simulated node tells it the load, in its own words.
  sim: ["base", "wire", "config", "admission", "state", "kube", "daemon", "guard"],
  // Its page is in console/, and comes to it as text.
  console: ["base", "wire", "kube", "guard"],
  // attachment: `levee migrate --check` uses the same code that will judge a pod.
  // guard: `levee guard` runs it, and other commands show what it writes.
  // console: `levee console` serves it.
  // sim: `levee sim` runs it.
  cli: ["base", "config", "wire", "cni", "attachment", "lint", "state", "kube", "readiness", "guard", "console", "sim"],
  // src/main.ts: picks the daemon or the CLI and does nothing else.
  main: ["base", "config", "daemon", "cli"],
};

/** Packages of package.json that a folder may load, and how. Everything else in src/ is `node:` built-ins only. */
const allowedPackages: readonly { readonly folder: string; readonly name: string; readonly dynamicOnly: boolean }[] = [
  // Only the embedded default reads YAML. It is loaded late, so that a daemon in a cluster does not load it.
  { folder: "directory", name: "yaml", dynamicOnly: true },
  // A kubeconfig is YAML. Inside a cluster there is none.
  { folder: "kube", name: "yaml", dynamicOnly: true },
  // The guard is its own process, and changes one field of a manifest in git.
  { folder: "guard", name: "yaml", dynamicOnly: false },
  { folder: "cli", name: "commander", dynamicOnly: false },
  // The commands run in their own process and print YAML.
  { folder: "cli", name: "yaml", dynamicOnly: false },
];

/**
 * Imports go downwards. Lint finds cycles, the type check finds imports of missing files, and knip finds packages that
 * package.json does not list. Only this rule knows which folder may import which.
 */
export const rings = fileRule("rings", (tree) => {
  const sources = tree.files.filter((path) => /^(?:src|test|bench|scripts)\/.*\.ts$/u.test(path));
  const graph: Graph = new Map(sources.map((path) => [path, importsOf(tree.read(path) ?? "")]));
  return [...graph].flatMap(([path, imports]) =>
    imports.flatMap((found) => [
      ...(path.startsWith("src/") ? importProblems(path, found) : []),
      ...lateCycleProblems(graph, path, found),
    ]),
  );
});

type Graph = ReadonlyMap<string, readonly Import[]>;

function importProblems(path: string, found: Import): readonly Problem[] {
  if (found.from.startsWith(".")) return relativeProblems(path, found);
  if (found.from.startsWith("node:")) return [];
  if (isTestFile(path) && found.from === "bun:test") return [];
  const folder = folderOf(path);
  const allowed = allowedPackages.find((entry) => entry.folder === folder && entry.name === packageOf(found.from));
  if (allowed === undefined) {
    return problem(
      path,
      found,
      `src/${folder} imports the package ${found.from}`,
      "Use node: built-ins, or write an ADR and add the package to allowedPackages",
    );
  }
  if (allowed.dynamicOnly && !found.isDynamic && !found.isType && !isTestFile(path)) {
    const remedy = `Load it where it is needed: await import("${found.from}")`;
    return problem(path, found, `${found.from} is imported at start-up`, remedy);
  }
  return [];
}

function relativeProblems(path: string, found: Import): readonly Problem[] {
  const target = targetOf(path, found);
  if (!target.startsWith("src/")) {
    if (isTestFile(path) || isVersion(path, target) || isPage(path, target) || isBuiltPage(path, target)) return [];
    const remedy = "What ships must not depend on scripts or tests: move it into src/";
    return problem(path, found, `src/ imports ${target}`, remedy);
  }
  const [from, to] = [folderOf(path), folderOf(target)];
  const allowed = allowedImports[from];
  if (allowed === undefined) {
    const remedy = "Add the folder to allowedImports and to ARCHITECTURE.md";
    return problem(path, found, `src/${from} has no place in the rings`, remedy);
  }
  if (from === to) return roomProblems(path, target, found);
  if (allowed.includes(to)) return [];
  return problem(
    path,
    found,
    `src/${from} imports src/${to}, but may import only ${listed(allowed)}`,
    "Import downwards only: move the shared part to a lower ring, or pass it in",
  );
}

/** Files at the top of a folder connect its rooms and hold shared code. Tests may import from any room. */
function roomProblems(path: string, target: string, found: Import): readonly Problem[] {
  const rooms = roomImports[folderOf(path)];
  const [from, to] = [roomOf(path), roomOf(target)];
  if (rooms === undefined || from === to || from === "" || to === "" || isTestFile(path)) return [];
  const allowed = rooms[from];
  const place = `src/${folderOf(path)}/${from}`;
  if (allowed === undefined) {
    return problem(path, found, `${place} has no place among its rooms`, "Add the room to roomImports");
  }
  if (allowed.includes(to)) return [];
  return problem(
    path,
    found,
    `${place} imports the room ${to}, but may import only ${listed(allowed)}`,
    "Move the file to the room that uses it, pass the value in, or add the room to roomImports",
  );
}

/** The outermost ring may read the version from package.json. */
function isVersion(path: string, target: string): boolean {
  return target === "package.json" && ["daemon", "cli", "main"].includes(folderOf(path));
}

/** `levee explain` prints our pages; the build puts their text into the program. */
function isPage(path: string, target: string): boolean {
  return folderOf(path) === "cli" && /^docs\/.*\.md$/u.test(target);
}

/** The server of the console embeds the page that the build has bundled. */
function isBuiltPage(path: string, target: string): boolean {
  return folderOf(path) === "console" && target === "dist/console/page.json.txt";
}

/** A cycle through a late `import()` or a `typeof import()`, which lint does not follow. */
function lateCycleProblems(graph: Graph, path: string, found: Import): readonly Problem[] {
  if (!found.isDynamic || !found.from.startsWith(".")) return [];
  const target = targetOf(path, found);
  const reached = new Set([target]);
  for (const file of reached) for (const next of graph.get(file) ?? []) reached.add(targetOf(file, next));
  if (!reached.has(path)) return [];
  return problem(path, found, `import cycle: ${target} leads back here`, "Move what both need into a third file");
}

function targetOf(path: string, found: Import): string {
  return found.from.startsWith(".") ? normalize(`${dirname(path)}/${found.from}`) : found.from;
}

function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.length === 2 ? (parts[1] ?? "").replace(/(\.test)?\.ts$/, "") : (parts[1] ?? "");
}

/** The folder inside a folder of src/; empty for files at its top. */
function roomOf(path: string): string {
  const parts = path.split("/");
  return parts.length > 3 ? (parts[2] ?? "") : "";
}

function packageOf(from: string): string {
  const parts = from.split("/");
  return from.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

function listed(allowed: readonly string[]): string {
  return allowed.length === 0 ? "nothing" : allowed.join(", ");
}

function problem(file: string, found: Import, message: string, remedy: string): readonly Problem[] {
  return [{ file, line: found.line, message, remedy }];
}
