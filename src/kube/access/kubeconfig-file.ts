import { dirname, resolve } from "node:path";
import { LeveeError } from "../../base/errors.ts";
import { isObject } from "../client/json-fields.ts";
import { readRegularFile } from "../../base/regular-file.ts";

/** Real files have a few KiB. One with a hundred clusters and inline certificates stays below this. */
const bytesMax = 4_194_304;

/** A cluster, user or context of a kubeconfig, with the folder that its relative paths start from. */
export interface KubeconfigEntry {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly folder: string;
}

/** The files combined. The first file that names an entry wins, as with kubectl. */
export interface KubeconfigFiles {
  /** For messages. */
  readonly paths: readonly string[];
  readonly currentContext: string | undefined;
  entry(kind: KubeconfigList, name: string): KubeconfigEntry | undefined;
  names(kind: KubeconfigList): readonly string[];
}

type KubeconfigList = "clusters" | "users" | "contexts";

/** The key of the value in each list's items. */
const inner: Record<KubeconfigList, string> = { clusters: "cluster", users: "user", contexts: "context" };

export async function readKubeconfigFiles(paths: readonly string[]): Promise<KubeconfigFiles> {
  const documents = await Promise.all(paths.map(async (path) => ({ path, fields: await readDocument(path) })));
  const entries = new Map<string, KubeconfigEntry>();
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

function addEntries(
  entries: Map<string, KubeconfigEntry>,
  path: string,
  fields: Readonly<Record<string, unknown>>,
): void {
  for (const kind of ["clusters", "users", "contexts"] as const) {
    const list = fields[kind];
    if (!Array.isArray(list)) continue;
    for (const item of list) {
      if (!isObject(item) || typeof item["name"] !== "string") continue;
      const key = `${kind} ${item["name"]}`;
      const value = item[inner[kind]];
      if (isObject(value) && !entries.has(key)) entries.set(key, { fields: value, folder: dirname(resolve(path)) });
    }
  }
}

async function readDocument(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const text = (await readRegularFile(path, { bytesMax, followLinks: true })).toString("utf8");
    // Loaded late: a daemon in a pod reads no kubeconfig and does not need the library.
    const { parse } = await import("yaml");
    const document: unknown = parse(text);
    if (document === null) return {};
    if (isObject(document)) return document;
    throw new Error("it must be an object");
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
    throw new LeveeError("config-invalid", `Cannot read the kubeconfig ${path}: ${why}`, { cause });
  }
}
