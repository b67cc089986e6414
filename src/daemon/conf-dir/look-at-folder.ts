import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { JsonText } from "../../base/brand.ts";
import { errnoOf, LeveeError, toLeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { asJsonText, jsonBytesMax } from "../../cni/json-text.ts";
import { parseNetworkConf, type NetworkConf } from "../../cni/network-conf.ts";
import { shimType } from "../../config/shim-conf.ts";
import { confFileNames } from "./primary-conf.ts";

/** The part of the conf directory that concerns our conf. */
export interface FolderLook {
  readonly own: OwnConf;
  /** A file that the runtime reads in place of ours. */
  readonly shadowedBy: string | undefined;
  /** Multus' own conf, which the runtime would read next. */
  readonly multus: string | undefined;
}

export type OwnConf = AbsentConf | PlainConf | ChainedConf;

interface AbsentConf {
  readonly kind: "absent";
  /** Its new name, if another program only renamed it. */
  readonly renamedTo: string | undefined;
}

interface PlainConf {
  readonly kind: "plain";
  /** Undefined when it cannot be read. */
  readonly text: string | undefined;
  readonly callsUs: boolean;
}

/** Another program, such as Istio, made a list of our conf and put its own plugins after our shim. */
export interface ChainedConf {
  readonly kind: "chained";
  readonly fileName: string;
  readonly text: JsonText;
  /** Our own element of the list. */
  readonly element: JsonText;
  readonly others: readonly string[];
}

const multusName = "00-multus.conf";

/** Throws the system's error when the folder cannot be listed. */
export async function lookAtFolder(folder: string, fileName: string): Promise<FolderLook> {
  const names = await confFileNames(folder);
  const own = await ownConf(folder, fileName, names);
  const effective = own.kind === "chained" ? own.fileName : fileName;
  return {
    own,
    shadowedBy: own.kind === "absent" ? undefined : await shadowOf(folder, effective, names),
    multus: names.includes(multusName) && multusName !== fileName ? join(folder, multusName) : undefined,
  };
}

async function ownConf(folder: string, fileName: string, names: readonly string[]): Promise<OwnConf> {
  if (names.includes(fileName)) return chainedConf(folder, fileName, (text) => plain(text));
  const list = `${fileName}list`;
  if (fileName.endsWith(".conf") && names.includes(list)) {
    const found = await chainedConf(folder, list, () => undefined);
    if (found !== undefined) return found;
  }
  return { kind: "absent", renamedTo: await renamedName(folder, fileName) };
}

/** The file as a list that begins with our shim, else whatever `otherwise` makes of it. */
async function chainedConf<T>(
  folder: string,
  fileName: string,
  otherwise: (text: string | undefined) => T,
): Promise<ChainedConf | T> {
  const path = join(folder, fileName);
  const bytes = await readRegularFile(path, { bytesMax: jsonBytesMax, followLinks: true }).catch(ignoreUnreadable);
  if (bytes === undefined) return otherwise(undefined);
  const conf = parsed(bytes, path);
  const [first, ...others] = conf?.plugins ?? [];
  if (conf?.isList !== true || first?.type !== shimType || others.length === 0)
    return otherwise(bytes.toString("utf8"));
  return {
    kind: "chained",
    fileName,
    text: conf.text,
    element: first.text,
    others: others.map(({ type }) => type),
  };
}

function plain(text: string | undefined): PlainConf {
  const conf = text === undefined ? undefined : parsed(Buffer.from(text), "our conf");
  return { kind: "plain", text, callsUs: conf?.plugins[0]?.type === shimType };
}

/** Cilium's `exclusive` renames to `<name>.cilium_bak`, people to `<name>.bak`. */
async function renamedName(folder: string, fileName: string): Promise<string | undefined> {
  const names = await readdir(folder);
  return names.filter((name) => name.startsWith(`${fileName}.`)).toSorted()[0];
}

/** Runtimes read the first file by name, even a broken one. */
async function shadowOf(folder: string, fileName: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names.filter((other) => other < fileName)) {
    const path = join(folder, name);
    const bytes = await readRegularFile(path, { bytesMax: jsonBytesMax, followLinks: true }).catch(ignoreUnreadable);
    const conf = bytes === undefined ? undefined : parsed(bytes, path);
    if (conf?.plugins[0]?.type !== shimType) return path;
  }
  return undefined;
}

function parsed(bytes: Uint8Array, path: string): NetworkConf | undefined {
  try {
    return parseNetworkConf(asJsonText(bytes, path), { what: path });
  } catch (thrown) {
    if (thrown instanceof LeveeError) return undefined;
    throw toLeveeError(thrown, `Cannot look at ${path}`);
  }
}

function ignoreUnreadable(thrown: unknown): undefined {
  if (thrown instanceof LeveeError || errnoOf(thrown) !== undefined) return undefined;
  throw thrown;
}
