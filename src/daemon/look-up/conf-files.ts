import { readdir, stat } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import type { JsonText } from "../../base/brand.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { asJsonText, jsonBytesMax } from "../../cni/json-text.ts";
import { appendPlugins, parseNetworkConf, type NetworkConf } from "../../cni/network-conf.ts";
import { isMetaType } from "../../config/shim-conf.ts";

const confExtensions: ReadonlySet<string> = new Set([".conf", ".conflist", ".json"]);

/**
 * Loads a network's configuration from a file, or from the first file of a folder by name, as runtimes do. A conf that
 * calls this daemon is refused, whatever its name and place: the daemon would call itself.
 */
export async function loadConfPath(path: string): Promise<NetworkConf> {
  const facts = await reading(path, () => stat(path));
  if (!facts.isDirectory()) return refuseMeta(await loadConfFile(path), path);
  for (const name of await confNames(path)) {
    const conf = await loadConfFile(join(path, name));
    if (metaTypeOf(conf) === undefined) return conf;
  }
  throw new LeveeError(
    "config-invalid",
    `Cannot find a network configuration in ${path}: it holds no .conf, .conflist or .json file of a network`,
  );
}

/** The plugin that calls a daemon like this one; undefined in the configuration of an ordinary network. */
export function metaTypeOf(conf: NetworkConf): string | undefined {
  return conf.plugins.map(({ type }) => type).find(isMetaType);
}

function refuseMeta(conf: NetworkConf, path: string): NetworkConf {
  const type = metaTypeOf(conf);
  if (type === undefined) return conf;
  throw new LeveeError(
    "config-invalid",
    `Cannot use ${path} as a pod's network: its plugin ${type} calls a daemon like this one; name the file of an ordinary network`,
  );
}

/** The configuration with this `name` in `folder`, a list before a conf (NPWG 3.4.1). Broken files are skipped. */
export async function findConfByName(folder: string, name: string): Promise<NetworkConf | undefined> {
  let single: NetworkConf | undefined;
  for (const fileName of await confNames(folder)) {
    const conf = await loadConfFile(join(folder, fileName)).catch((thrown: unknown) => {
      if (thrown instanceof LeveeError) return undefined;
      throw thrown;
    });
    if (conf?.name !== name) continue;
    if (conf.isList) return conf;
    single ??= conf;
  }
  return single;
}

/** Whether a folder holds any configuration at all. */
export async function hasConfs(folder: string): Promise<boolean> {
  return (await confNames(folder)).length > 0;
}

/** The plugin configurations in a network's own sub-folder, by file name. */
export async function subFolderTexts(subFolder: string): Promise<JsonText[]> {
  const names = (await confNames(subFolder)).filter((name) => extname(name) === ".conf");
  return Promise.all(
    names.map(async (name) => {
      const path = join(subFolder, name);
      return asJsonText(
        await reading(path, () => readRegularFile(path, { bytesMax: jsonBytesMax, followLinks: true })),
        path,
      );
    }),
  );
}

/** Loads one file, even one that calls this daemon. */
export async function loadConfFile(path: string): Promise<NetworkConf> {
  const text = asJsonText(
    await reading(path, () => readRegularFile(path, { bytesMax: jsonBytesMax, followLinks: true })),
    path,
  );
  const conf = parseNetworkConf(text, { what: path, mayLackPlugins: true });
  return conf.isList && !conf.loadOnlyInlinedPlugins ? withSubFolder(conf, dirname(path)) : conf;
}

/** libcni 1.3: plugins in `<folder>/<network name>/*.conf` are appended to the list. */
async function withSubFolder(conf: NetworkConf, folder: string): Promise<NetworkConf> {
  const texts = await subFolderTexts(join(folder, conf.name));
  return texts.length === 0 ? conf : appendPlugins(conf, texts);
}

async function confNames(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => confExtensions.has(extname(name))).toSorted();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ENOTDIR") return [];
    throw new LeveeError("io-failed", `Cannot list ${folder}: ${errnoOf(cause) ?? "unknown"}`, { cause });
  }
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof LeveeError) throw cause;
    const code = errnoOf(cause) === "ENOENT" ? "config-invalid" : "io-failed";
    throw new LeveeError(code, `Cannot read the network configuration ${path}: ${errnoOf(cause) ?? "unknown"}`, {
      cause,
    });
  }
}
