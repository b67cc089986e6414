import { dirname, resolve } from "node:path";
import { LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";

/** Real ones have a few KiB; one with a hundred clusters and inline certificates stays below. */
const bytesMax = 4_194_304;

/** A cluster, user or context of a kubeconfig, with the folder its relative paths start from. */
export interface Entry {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly folder: string;
}

/** What the files say together. The first file that names something wins, as with kubectl. */
export interface KubeconfigFiles {
  /** For messages. */
  readonly paths: readonly string[];
  readonly currentContext: string | undefined;
  entry(kind: EntryKind, name: string): Entry | undefined;
  names(kind: EntryKind): readonly string[];
}

export type EntryKind = "clusters" | "users" | "contexts";

/** The key under which each list holds what it names. */
const inner: Record<EntryKind, string> = { clusters: "cluster", users: "user", contexts: "context" };

export async function readKubeconfigFiles(paths: readonly string[]): Promise<KubeconfigFiles> {
  const documents = await Promise.all(paths.map(async (path) => ({ path, fields: await readDocument(path) })));
  const entries = new Map<string, Entry>();
  for (const { path, fields } of documents) addEntries(entries, path, fields);
  const contexts = documents.map(({ fields }) => fields["current-context"]);
  return {
    paths,
    currentContext: contexts.find((name): name is string => typeof name === "string" && name !== ""),
    entry: (kind, name) => entries.get(`${kind} ${name}`),
    names: (kind) =>
      [...entries.keys()].filter((key) => key.startsWith(`${kind} `)).map((key) => key.slice(kind.length + 1)),
  };
}

function addEntries(entries: Map<string, Entry>, path: string, fields: Readonly<Record<string, unknown>>): void {
  for (const kind of ["clusters", "users", "contexts"] as const) {
    const list = fields[kind];
    if (!Array.isArray(list)) continue;
    for (const item of list) {
      if (!isRecord(item) || typeof item["name"] !== "string") continue;
      const key = `${kind} ${item["name"]}`;
      const value = item[inner[kind]];
      if (isRecord(value) && !entries.has(key)) entries.set(key, { fields: value, folder: dirname(resolve(path)) });
    }
  }
}

async function readDocument(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const text = (await readRegularFile(path, { bytesMax, followLinks: true })).toString("utf8");
    // Loaded here and not at the top: a daemon in a pod reads no kubeconfig and does not pay for the library.
    const { parse } = await import("yaml");
    const document: unknown = parse(text);
    if (document === null) return {};
    if (isRecord(document)) return document;
    throw new Error("it must be an object");
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
    throw new LeveeError("config-invalid", `Cannot read the kubeconfig ${path}: ${why}`, { cause });
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
