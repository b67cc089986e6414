import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { errnoOf, toLeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { asJsonText, jsonBytesMax } from "../../cni/json-text.ts";
import { parseNetworkConf } from "../../cni/network-conf.ts";

/** One file of a runtime's conf folder. */
export type ConfFile = { readonly fileName: string } & (
  | { readonly types: readonly string[]; readonly network: string }
  /** The runtime skips a file it cannot read. */
  | { readonly problem: string }
);

const extensions: ReadonlySet<string> = new Set([".conf", ".conflist", ".json"]);
/** A conf folder holds a few files. */
const filesMax = 256;

/** The files in the runtime's order: the first usable one is the network of every pod. */
export async function readConfFolder(folder: string): Promise<readonly ConfFile[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory() && extensions.has(extname(entry.name)));
  const sorted = names.map(({ name }) => name).toSorted();
  const files = await Promise.all(sorted.slice(0, filesMax).map((fileName) => readConfFile(folder, fileName)));
  return files.filter((file) => file !== undefined);
}

/** Undefined if the file is gone. */
export async function readConfFile(folder: string, fileName: string): Promise<ConfFile | undefined> {
  const path = join(folder, fileName);
  try {
    const text = asJsonText(await readRegularFile(path, { bytesMax: jsonBytesMax, followLinks: true }), path);
    const conf = parseNetworkConf(text, { what: path, mayLackPlugins: true });
    return { fileName, types: conf.plugins.map(({ type }) => type), network: conf.name };
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    return { fileName, problem: toLeveeError(thrown, `Cannot read ${path}`).message };
  }
}
