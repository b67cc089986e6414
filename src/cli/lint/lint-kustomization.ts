import { realpath, stat } from "node:fs/promises";
import { join, normalize } from "node:path";
import { parseDocument } from "yaml";
import { usageFailure } from "../failure.ts";
import { manifestText, readFileSource } from "./lint-files.ts";
import { fileFinding, joinSources, only, startOf, type LintSources } from "./lint-sources.ts";
import { YamlFields } from "./yaml-fields.ts";

const names = ["kustomization.yaml", "kustomization.yml", "Kustomization"] as const;
/** What a kustomization does to its resources beside naming them; we do not. */
const transformers = [
  "patches",
  "patchesStrategicMerge",
  "patchesJson6902",
  "namePrefix",
  "nameSuffix",
  "replacements",
  "generators",
  "transformers",
  "helmCharts",
] as const;

/** A kustomization that includes itself through others would never end. */
const depthMax = 32;

/**
 * The resources of a kustomization, read from the disk, with the namespace that it sets. Nothing is fetched, patched or
 * generated: for that there is `kubectl kustomize DIR | levee lint -`.
 */
export async function lintKustomization(folder: string): Promise<LintSources> {
  if ((await kustomizationIn(folder)) === undefined)
    throw usageFailure(`Cannot lint ${folder} with -k: it has no kustomization.yaml`, `levee lint ${folder}`);
  return await readFolder(folder, undefined, { seen: new Set(), depth: 0 });
}

interface Walk {
  readonly seen: Set<string>;
  readonly depth: number;
}

async function readFolder(folder: string, outer: string | undefined, walk: Walk): Promise<LintSources> {
  const path = await kustomizationIn(folder);
  if (path === undefined) return only(fileFinding("LVN0103", startOf(folder), "the folder has no kustomization.yaml"));
  const real = await realpath(path);
  if (walk.seen.has(real) || walk.depth > depthMax) return joinSources([]);
  walk.seen.add(real);
  const text = await manifestText(path);
  if (typeof text !== "string") return text;
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error !== undefined)
    return only(fileFinding("LVN0101", startOf(path), `the file cannot be read: ${error.message}`));
  const fields = new YamlFields(document);
  const own = fields.text(fields.root, "namespace");
  // The outermost kustomization has the last word.
  const namespace = outer ?? (own === "" ? undefined : own);
  const entries = ["resources", "bases", "components"].flatMap((key) => Object.values(listTexts(fields, key)));
  const parts = [notApplied(path, fields)];
  for (const entry of entries) parts.push(await readEntry({ folder, path, entry }, namespace, walk));
  return joinSources(parts);
}

function listTexts(fields: YamlFields, key: string): readonly string[] {
  return fields.list(fields.root, key).map((node) => fields.text(node));
}

interface Entry {
  readonly folder: string;
  /** The kustomization that has the entry. */
  readonly path: string;
  readonly entry: string;
}

async function readEntry(
  { folder, path, entry }: Entry,
  namespace: string | undefined,
  walk: Walk,
): Promise<LintSources> {
  if (/:\/\/|^git@|^github\.com\/|[?&]ref=/u.test(entry))
    return only(missing(path, `it takes ${JSON.stringify(entry)} from elsewhere, which was not looked at`, "note"));
  const target = normalize(join(folder, entry));
  const facts = await stat(target).catch(() => undefined);
  if (facts === undefined)
    return only(missing(path, `it names ${JSON.stringify(entry)}, which does not exist`, "error"));
  if (facts.isDirectory()) return await readFolder(target, namespace, { ...walk, depth: walk.depth + 1 });
  return await readFileSource(target, namespace);
}

function missing(path: string, message: string, severity: "error" | "note"): LintSources["findings"][number] {
  return { ...fileFinding("LVN0103", startOf(path), message), severity };
}

function notApplied(path: string, fields: YamlFields): LintSources {
  const used = transformers.filter((key) => fields.node(fields.root, key) !== undefined);
  if (used.length === 0) return joinSources([]);
  const message = `its ${used.join(", ")} were not applied`;
  return only({ ...missing(path, message, "note"), remedy: "kubectl kustomize DIR | levee lint -" });
}

async function kustomizationIn(folder: string): Promise<string | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isFile() === true) return path;
  }
  return undefined;
}
