import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, LeveeError } from "../base/errors.ts";
import type { Hand } from "../hands/hand.ts";
import { resultsFolderOf } from "../state/multus-result-file.ts";
import type { FolderEntry } from "../wire/folder-page.ts";
import type { Sight } from "./gc-sight.ts";
import { dataDirsOf } from "./leases-conf.ts";
import { KnownContainers, leaseOf, orphansAmong, type Lease } from "./leases.ts";
import type { NodePorts } from "./node-ports.ts";

export interface LeaseLook {
  readonly orphans: readonly Lease[];
  /** Why nothing may be released although it seems orphaned; empty when it may. */
  readonly doubt: string;
}

/** A node has some hundred addresses; a folder with more entries than this is not one of host-local's. */
const entriesMax = 20_000;
/** Each costs an order; a dataDir with more folders holds something else. */
const networksMax = 500;

/**
 * Looks for addresses whose container nobody knows. The addresses are read first: whoever appears meanwhile is known by
 * then, and not taken for gone.
 */
export async function lookForOrphans(hand: Hand, sight: Sight, ports: NodePorts): Promise<LeaseLook> {
  const leases: Lease[] = [];
  for (const dataDir of dataDirsOf(ports)) leases.push(...(await leasesIn(hand, dataDir)));
  const multus = await multusNames(ports.config.cniDir);
  const runtime = await runtimeNames(hand, ports.config.runtimeCniDir);
  const known = new KnownContainers(knownIds(ports, multus.scratch), [...multus.results, ...(runtime ?? [])]);
  const alive = [...sight.alive].map((record) => String(record.containerId));
  const isDamaged = ports.journal.quarantined().length > 0;
  const doubt = isDamaged ? "the journal is damaged" : doubtOf(runtime, alive, ports.config.runtimeCniDir);
  return { orphans: orphansAmong(leases, known), doubt };
}

function knownIds(ports: NodePorts, scratch: readonly string[]): readonly string[] {
  const { journal } = ports;
  return [...[...journal.all(), ...journal.leaks()].map(({ containerId }) => String(containerId)), ...scratch];
}

/** The runtime's own list of containers counts only if it is where we look for it. */
function doubtOf(runtime: readonly string[] | undefined, alive: readonly string[], folder: string): string {
  if (runtime === undefined) return `the runtime keeps no results in ${folder}`;
  const own = new KnownContainers([], runtime);
  if (alive.length === 0 || alive.some((id) => own.hasResult(id))) return "";
  return `none of the ${alive.length} living containers of the journal is in ${folder}/results, so the runtime keeps its results elsewhere`;
}

async function leasesIn(hand: Hand, dataDir: string): Promise<readonly Lease[]> {
  const networks = (await collect(hand, dataDir, ({ kind, name }) => (kind === "folder" ? name : undefined))) ?? [];
  const leases: Lease[] = [];
  for (const network of networks.slice(0, networksMax)) {
    const found = await collect(hand, join(dataDir, network), (file) => leaseOf(file, { dataDir, network }));
    leases.push(...(found ?? []));
  }
  return leases;
}

/** libcni's cache, at its usual place and at that of old kubelets; undefined when there is neither. */
async function runtimeNames(hand: Hand, folder: string): Promise<readonly string[] | undefined> {
  const usual = await collect(hand, join(folder, "results"), ({ name }) => name);
  const old = await collect(hand, join(folder, "cache/results"), ({ name }) => name);
  return usual === undefined && old === undefined ? undefined : [...(usual ?? []), ...(old ?? [])];
}

/** What `take` makes of every entry of a folder of the host, page by page; undefined when the folder is not there. */
export async function collect<T>(
  hand: Hand,
  folder: string,
  take: (entry: FolderEntry) => T | undefined,
): Promise<readonly T[] | undefined> {
  const taken: T[] = [];
  let after: string | undefined;
  for (let seen = 0; seen < entriesMax;) {
    const page = await hand.list(folder, after);
    if (page === undefined) return after === undefined ? undefined : taken;
    taken.push(...page.entries.flatMap((entry) => take(entry) ?? []));
    after = page.entries.at(-1)?.name;
    if (!page.isTruncated || after === undefined) return taken;
    seen += page.entries.length;
  }
  // Half a list would make the containers of the other half unknown.
  throw new LeveeError("io-failed", `Cannot read ${folder} as it has more than ${entriesMax} entries`);
}

/** Multus' cache is where the daemon writes its own copy, so it is read without a hand. */
async function multusNames(
  cniDir: string,
): Promise<{ readonly scratch: readonly string[]; readonly results: readonly string[] }> {
  return { scratch: await namesIn(cniDir), results: await namesIn(resultsFolderOf(cniDir)) };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  });
}
