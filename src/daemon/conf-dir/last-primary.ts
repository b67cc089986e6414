import { stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { asJsonText, jsonBytesMax, memberText } from "../../cni/json-text.ts";
import { parseNetworkConf } from "../../cni/network-conf.ts";

/** The primary network from which our conf was last made, as the conf itself names it. */
export interface LastPrimary {
  /** The path as seen by the daemon that wrote it. */
  readonly path: string;
  /** When the conf was written, on the wall clock. */
  readonly writtenMs: number;
}

/** Reads what an earlier daemon left; undefined when nothing readable is there. */
export async function readLastPrimary(folder: string, fileName: string): Promise<LastPrimary | undefined> {
  // Another program may have made a list of it.
  for (const name of [fileName, `${fileName}list`]) {
    const last = await readOne(join(folder, name)).catch(ignoreUnreadable);
    if (last !== undefined) return last;
  }
  return undefined;
}

async function readOne(path: string): Promise<LastPrimary | undefined> {
  const { mtimeMs } = await stat(path);
  const text = asJsonText(await readRegularFile(path, { bytesMax: jsonBytesMax, followLinks: true }), path);
  const [first] = parseNetworkConf(text, { what: path }).plugins;
  const value: unknown = JSON.parse(
    (first === undefined ? undefined : memberText(first.text, "clusterNetwork")) ?? "0",
  );
  return typeof value === "string" ? { path: value, writtenMs: mtimeMs } : undefined;
}

function ignoreUnreadable(thrown: unknown): undefined {
  if (thrown instanceof LeveeError || errnoOf(thrown) !== undefined) return undefined;
  throw thrown;
}
