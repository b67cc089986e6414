import { realpath, stat } from "node:fs/promises";
import { join, normalize } from "node:path";
import { parseDocument } from "yaml";
import type { LintPlace } from "../../lint/lint-objects.ts";
import { usageFailure } from "../failure.ts";
import { manifestText, readFileSource } from "./lint-files.ts";
import { fileFinding, joinSources, only, startOf, type LintSources } from "./lint-sources.ts";
import { TextPositions } from "./text-positions.ts";
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
  const placed = new Placed(path, text);
  const [error] = document.errors;
  if (error !== undefined)
    return only(fileFinding("LVN0101", placed.at(error.pos), `the file cannot be read: ${error.message}`));
  const fields = new YamlFields(document);
  const own = fields.text(fields.root, "namespace");
  // The outermost kustomization has the last word.
  const namespace = outer ?? (own === "" ? undefined : own);
  const entries = ["resources", "bases", "components"].flatMap((key) => fields.list(fields.root, key));
  const parts = [notApplied(placed, fields)];
  for (const node of entries)
    parts.push(await readEntry({ folder, place: placed.at(node.range), entry: fields.text(node) }, namespace, walk));
  return joinSources(parts);
}

/** Places in a kustomization. */
class Placed {
  readonly #path: string;
  readonly #positions: TextPositions;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#positions = new TextPositions(text);
  }

  at(range: Readonly<ArrayLike<number>> | null | undefined): LintPlace {
    const [from, past] = [range?.[0] ?? 0, range?.[1] ?? 0];
    const [start, end] = [this.#positions.at(from), this.#positions.at(Math.max(from + 1, past))];
    return { file: this.#path, line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
  }
}

interface Entry {
  readonly folder: string;
  /** Where the kustomization has the entry. */
  readonly place: LintPlace;
  readonly entry: string;
}

async function readEntry(
  { folder, place, entry }: Entry,
  namespace: string | undefined,
  walk: Walk,
): Promise<LintSources> {
  if (/:\/\/|^git@|^github\.com\/|[?&]ref=/u.test(entry))
    return only(missing(place, `it takes ${JSON.stringify(entry)} from elsewhere, which was not looked at`, "note"));
  const target = normalize(join(folder, entry));
  const facts = await stat(target).catch(() => undefined);
  if (facts === undefined)
    return only(missing(place, `it names ${JSON.stringify(entry)}, which does not exist`, "error"));
  if (facts.isDirectory()) return await readFolder(target, namespace, { ...walk, depth: walk.depth + 1 });
  return await readFileSource(target, namespace);
}

function missing(place: LintPlace, message: string, severity: "error" | "note"): LintSources["findings"][number] {
  return { ...fileFinding("LVN0103", place, message), severity };
}

function notApplied(placed: Placed, fields: YamlFields): LintSources {
  const used = transformers.filter((key) => fields.node(fields.root, key) !== undefined);
  const [first] = used;
  if (first === undefined) return joinSources([]);
  const place = placed.at(fields.node(fields.root, first)?.range);
  const message = `it was looked at without its ${used.join(", ")}`;
  return only({ ...missing(place, message, "note"), remedy: "kubectl kustomize DIR | levee lint -" });
}

async function kustomizationIn(folder: string): Promise<string | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isFile() === true) return path;
  }
  return undefined;
}
