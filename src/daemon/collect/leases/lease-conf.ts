import { join, normalize } from "node:path";
import type { JsonText } from "../../../base/brand.ts";
import { LeveeError } from "../../../base/errors.ts";
import { asJsonText, jsonKind, jsonString, jsonValue, memberText, setMember } from "../../../cni/json-text.ts";
import { pluginStdin } from "../../../cni/plugin-stdin.ts";
import type { DaemonConfig } from "../../../config/daemon-config.ts";
import type { Journal } from "../../../state/journal/journal.ts";
import type { ConfCache } from "../../look-up/conf-cache.ts";
import type { Lease } from "./leases.ts";
import type { View } from "../../../view/view.ts";
import type { NetworkDefinition } from "../../../view/network-definition.ts";

export interface LeaseConfNeeds {
  readonly config: Pick<DaemonConfig, "delegates" | "runtimeCniDir">;
  readonly journal: Pick<Journal, "all">;
  readonly view: Pick<View, "networks">;
  readonly confs: ConfCache;
}

/** Each is some orders for the hand, and anybody who may write a definition can name one. */
const dataDirsMax = 64;

/** Every folder in which host-local keeps addresses on this node: the usual one, and those that networks name. */
export function dataDirsOf(needs: LeaseConfNeeds): readonly string[] {
  const texts: readonly string[] = [
    ...needs.config.delegates,
    ...needs.journal.all().flatMap((record) => record.chains.map((chain) => chain.multus.config)),
    ...needs.view.networks().map(({ config }) => config ?? ""),
  ];
  const found = texts.filter((text) => text.includes('"dataDir"')).flatMap(foldersNamedIn);
  return [...new Set([usualDataDir(needs), ...found])].slice(0, dataDirsMax);
}

function usualDataDir(needs: Pick<LeaseConfNeeds, "config">): string {
  return join(needs.config.runtimeCniDir, "networks");
}

/** Absolute, and not longer than a path can be; found by its key alone, as most configurations name none. */
const dataDirPattern = /"dataDir"\s*:\s*"(\/[^"\\]{1,1000})"/gu;

function foldersNamedIn(config: string): readonly string[] {
  return [...config.matchAll(dataDirPattern)].map(([, folder = ""]) => tidy(folder)).filter(isOnDisk);
}

function tidy(folder: string): string {
  return normalize(folder).replace(/(?<=.)\/$/u, "");
}

/** The kernel's own trees hold no addresses, and some of their files do not end when they are read. */
function isOnDisk(folder: string): boolean {
  return folder !== "/" && !/^\/(?:proc|sys|dev)(?:\/|$)/u.test(folder);
}

/**
 * What host-local's DEL needs: the network's name, its folder, and a range, at which it does not look when it frees an
 * address. The network's own configuration where it is known, else the least that will do.
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

/** What each plugin of a definition would be given, if the definition is of the network we look for. */
function stdinsOf(definition: NetworkDefinition, network: string, needs: LeaseConfNeeds): readonly JsonText[] {
  const text = definition.config ?? "";
  if (!text.includes("host-local") || !(text.includes(network) || definition.name === network)) return [];
  try {
    const what = `the NetworkAttachmentDefinition ${definition.namespace}/${definition.name}`;
    const conf = needs.confs.parse(text, { what, defaultName: definition.name });
    if (conf.name !== network) return [];
    return conf.plugins.map((plugin) => pluginStdin(plugin, { name: conf.name, cniVersion: conf.cniVersion }));
  } catch (thrown) {
    // Of a definition that cannot be read nothing is known, as of one that is not there.
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

/** Every host-local speaks this version. */
const leastVersion = "0.3.1";
/** Of the addresses that are reserved for examples. */
const anyRange = [[{ subnet: "192.0.2.0/24" }]];

function leastConf(lease: Lease): JsonText {
  const head = asJsonText('{"type":"host-local"}', "the least configuration of host-local");
  const named = setMember(setMember(head, "cniVersion", jsonString(leastVersion)), "name", jsonString(lease.network));
  return setMember(named, "ipam", jsonValue({ type: "host-local", dataDir: lease.dataDir, ranges: anyRange }));
}
