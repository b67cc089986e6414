import { join, normalize } from "node:path";
import type { JsonText } from "../../../base/brand.ts";
import { LeveeError } from "../../../base/errors.ts";
import { asJsonText, jsonKind, jsonString, jsonValue, memberText, setMember } from "../../../cni/json-text.ts";
import { pluginStdin } from "../../../cni/plugin-stdin.ts";
import type { DaemonConfig } from "../../../config/daemon-config.ts";
import type { Journal } from "../../../state/journal/journal.ts";
import type { ConfCache } from "../../look-up/conf-cache.ts";
import type { Lease } from "../../../hands/lease.ts";
import type { View } from "../../../view/view.ts";
import type { NetworkDefinition } from "../../../view/network-definition.ts";

export interface LeaseConfNeeds {
  readonly config: Pick<DaemonConfig, "delegates" | "runtimeCniDir">;
  readonly journal: Pick<Journal, "all">;
  readonly view: Pick<View, "networks">;
  readonly confs: ConfCache;
}

/** Each one costs orders to the hand, and every author of a definition can name one. */
const dataDirsMax = 64;

/** Every folder of host-local on this node: the usual one, and those that networks name. */
export function dataDirsOf(needs: LeaseConfNeeds): readonly string[] {
  const texts: readonly string[] = [
    ...needs.config.delegates,
    ...needs.journal.all().flatMap((record) => record.chains.map((chain) => chain.multus.config)),
    ...needs.view.networks().map(({ config }) => config ?? ""),
  ];
  // The engine's own search is many times faster than the pattern, and most pods have the same configurations.
  const found = [...new Set(texts)].filter((text) => text.toLowerCase().includes('"datadir"')).flatMap(foldersNamedIn);
  return [...new Set([usualDataDir(needs), ...found])].slice(0, dataDirsMax);
}

export function usualDataDir({ config }: { readonly config: Pick<DaemonConfig, "runtimeCniDir"> }): string {
  return join(config.runtimeCniDir, "networks");
}

/**
 * Finds the key in the text, in any case of its letters, as most configurations have none. The path must be absolute and
 * of a possible length.
 */
const dataDirPattern = /"dataDir"\s*:\s*"(\/[^"\\]{1,1000})"/giu;

function foldersNamedIn(config: string): readonly string[] {
  return [...config.matchAll(dataDirPattern)].map(([, folder = ""]) => tidy(folder)).filter(isOnDisk);
}

function tidy(folder: string): string {
  return normalize(folder).replace(/(?<=.)\/$/u, "");
}

/** The kernel's own trees hold no addresses, and some of their files never end. */
function isOnDisk(folder: string): boolean {
  return folder !== "/" && !/^\/(?:proc|sys|dev)(?:\/|$)/u.test(folder);
}

/**
 * The configuration for host-local's DEL: the network's own where it is known, else the smallest that works. DEL needs a
 * name, a folder and a range, but ignores the range.
 */
export function hostLocalConf(lease: Lease, needs: LeaseConfNeeds): JsonText {
  return ownConf(lease, needs) ?? leastConf(lease);
}

function ownConf(lease: Lease, needs: LeaseConfNeeds): JsonText | undefined {
  const fits = (stdin: JsonText): boolean => isOf(stdin, lease, usualDataDir(needs));
  for (const record of needs.journal.all())
    for (const chain of record.chains) {
      const link = chain.confName === lease.network ? chain.links.find(({ stdin }) => fits(stdin)) : undefined;
      if (link !== undefined) return link.stdin;
    }
  return needs.view
    .networks()
    .flatMap((definition) => stdinsOf(definition, lease.network, needs))
    .find(fits);
}

/** The stdin of each plugin of the definition; empty when the definition is of another network. */
function stdinsOf(definition: NetworkDefinition, network: string, needs: LeaseConfNeeds): readonly JsonText[] {
  const text = definition.config ?? "";
  if (!text.includes("host-local") || !(text.includes(network) || definition.name === network)) return [];
  try {
    const what = `the NetworkAttachmentDefinition ${definition.namespace}/${definition.name}`;
    const conf = needs.confs.parse(text, { what, defaultName: definition.name });
    if (conf.name !== network) return [];
    return conf.plugins.map((plugin) => pluginStdin(plugin, { name: conf.name, cniVersion: conf.cniVersion }));
  } catch (thrown) {
    // An unreadable definition counts as absent.
    if (thrown instanceof LeveeError) return [];
    throw thrown;
  }
}

function isOf(stdin: JsonText, lease: Lease, usual: string): boolean {
  const ipam = memberText(stdin, "ipam");
  if (ipam === undefined || jsonKind(ipam) !== "object") return false;
  const named = memberText(ipam, "dataDir");
  const folder: unknown = named === undefined ? usual : JSON.parse(named);
  const isThere = typeof folder === "string" && tidy(folder) === lease.dataDir;
  return isThere && memberText(ipam, "type") === '"host-local"';
}

/** Every host-local supports this version. */
const leastVersion = "0.3.1";
/** Reserved for documentation. */
const anyRange = [[{ subnet: "192.0.2.0/24" }]];

function leastConf(lease: Lease): JsonText {
  const head = asJsonText('{"type":"host-local"}', "the least configuration of host-local");
  const named = setMember(setMember(head, "cniVersion", jsonString(leastVersion)), "name", jsonString(lease.network));
  return setMember(named, "ipam", jsonValue({ type: "host-local", dataDir: lease.dataDir, ranges: anyRange }));
}
