import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { errnoOf, LeveeError, toLeveeError } from "../../base/errors.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { loadConfFile, metaTypeOf } from "../look-up/conf-files.ts";

/** The facts about the primary network's conf from which our own conf is made. */
export interface PrimaryConf {
  /** As the daemon sees it, since the daemon reads it at each call. */
  readonly path: string;
  readonly fileName: string;
  readonly name: string;
  readonly cniVersion: string;
  /** Those that any of its plugins declares. */
  readonly capabilities: readonly string[];
  readonly pluginTypes: readonly string[];
}

export type PrimaryFinding = PrimaryFound | PrimaryAbsent;

export interface PrimaryFound {
  readonly primary: PrimaryConf;
  /** Every conf in the folder, in the order in which runtimes look. */
  readonly names: readonly string[];
}

interface PrimaryAbsent {
  readonly primary: undefined;
  /** absent: no file exists. unusable: a file exists, and `why` says what is wrong with it. */
  readonly lack: "absent" | "unusable";
  readonly why: string;
  readonly remedy: string;
}

export type PrimaryPlace = Pick<DaemonConfig, "multusMasterCNI" | "multusAutoconfigDir">;

const confExtensions: ReadonlySet<string> = new Set([".conf", ".conflist", ".json"]);
/** Our files and Multus' own, whatever they contain. */
const metaPrefixes = ["00-levee", "00-multus"];
/** A conf directory holds a handful of files; a wrong, huge folder must not be read every few seconds. */
const namesMax = 256;

/**
 * Finds the conf named by `multusMasterCNI`, else the first one by name that is neither ours nor Multus'. It does not
 * skip an unreadable file, because the next file would be another network.
 */
export async function findPrimary(place: PrimaryPlace): Promise<PrimaryFinding> {
  const folder = place.multusAutoconfigDir;
  let names: readonly string[];
  try {
    names = await confFileNames(folder);
  } catch (cause) {
    return unreadable(cause, folder);
  }
  if (place.multusMasterCNI !== "") return namedPrimary(folder, place.multusMasterCNI, names);
  for (const fileName of names.filter((name) => !metaPrefixes.some((prefix) => name.startsWith(prefix)))) {
    const path = join(folder, fileName);
    const conf = await loadConf(path).catch((thrown: unknown) => thrown);
    if (!isConf(conf)) return unreadable(conf, path);
    if (!isMeta(conf) && !isLoopback(conf)) return { primary: factsOf(path, fileName, conf), names };
  }
  return absent(
    `${folder} has no .conf, .conflist or .json file of a primary network`,
    "see why the primary network's own agent has not written one",
  );
}

/** Names of the files that a runtime would read, in its order. */
export async function confFileNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory() && isConfName(entry.name)).map(({ name }) => name);
  return names.toSorted().slice(0, namesMax);
}

export function isConfName(name: string): boolean {
  return confExtensions.has(extname(name));
}

async function namedPrimary(folder: string, fileName: string, names: readonly string[]): Promise<PrimaryFinding> {
  const path = join(folder, fileName);
  const conf = await loadConf(path).catch((thrown: unknown) => thrown);
  if (!isConf(conf)) {
    const isMissing = conf instanceof LeveeError && errnoOf(conf.cause) === "ENOENT";
    return isMissing
      ? absent(`multusMasterCNI names ${fileName}, which is not in ${folder}`, "put it there, or set another name")
      : unreadable(conf, path);
  }
  if (isMeta(conf))
    return unusable(
      `multusMasterCNI names ${path}, which calls ${metaTypeOf(conf) ?? ""} and so itself`,
      "set it to the file of the network that pods are to get first",
    );
  return { primary: factsOf(path, fileName, conf), names };
}

/** Throws for a list without plugins, in itself and in its sub-folder: it is still being written. */
async function loadConf(path: string): Promise<NetworkConf> {
  const conf = await loadConfFile(path);
  if (conf.plugins.length > 0) return conf;
  throw new LeveeError("config-invalid", `Cannot use ${path}: it has neither "type" nor "plugins"`);
}

function isConf(loaded: unknown): loaded is NetworkConf {
  return typeof loaded === "object" && loaded !== null && "plugins" in loaded;
}

function isMeta(conf: NetworkConf): boolean {
  return metaTypeOf(conf) !== undefined;
}

/** Some distributions ship a loopback conf, which connects no pod to another. */
function isLoopback(conf: NetworkConf): boolean {
  return conf.plugins.every(({ type }) => type === "loopback");
}

function factsOf(path: string, fileName: string, conf: NetworkConf): PrimaryConf {
  const declared = conf.plugins.flatMap(({ capabilities }) =>
    Object.entries(capabilities).flatMap(([name, isOn]) => (isOn ? [name] : [])),
  );
  return {
    path,
    fileName,
    name: conf.name,
    cniVersion: conf.cniVersion,
    capabilities: [...new Set(declared)],
    pluginTypes: conf.plugins.map(({ type }) => type),
  };
}

function absent(why: string, remedy: string): PrimaryAbsent {
  return { primary: undefined, lack: "absent", why, remedy };
}

function unusable(why: string, remedy: string): PrimaryAbsent {
  return { primary: undefined, lack: "unusable", why, remedy };
}

function unreadable(thrown: unknown, path: string): PrimaryAbsent {
  const errno = errnoOf(thrown instanceof LeveeError ? thrown.cause : thrown);
  const isClosed = errno === "EACCES" || errno === "EPERM";
  // The daemon is root without capabilities, so it cannot read a private file of another user.
  if (isClosed)
    return unusable(
      `${path} cannot be read by the daemon, which is root without capabilities (${errno})`,
      `let root own ${path}, or let others read it`,
    );
  return unusable(
    toLeveeError(thrown, `Cannot read ${path}`).message,
    "repair or remove it, or name another one in multusMasterCNI",
  );
}
