import { join } from "node:path";
import { disk } from "../../../base/disk/disk.ts";
import { errnoOf, LeveeError, toLeveeError } from "../../../base/errors.ts";
import type { Hand } from "../../../hands/hand.ts";
import { readHostFolder } from "../../../hands/host-folder.ts";
import { runtimeResults } from "../../../hands/runtime-results.ts";
import { resultsFolderOf } from "../../../state/multus/multus-result-file.ts";
import type { LeaseCountView } from "../../../wire/node-holds.ts";
import type { Sight } from "../sight.ts";
import type { DaemonConfig } from "../../../config/daemon-config.ts";
import type { Journal } from "../../../state/journal/journal.ts";
import { dataDirsOf, type LeaseConfNeeds } from "./lease-conf.ts";
import { containersOfRuntimes } from "./runtime-containers.ts";
import { leaseOf, type Lease } from "../../../hands/lease.ts";
import { KnownContainers, leaseCounts, orphansAmong } from "./leases.ts";

type OrphanNeeds = LeaseConfNeeds & {
  readonly config: Pick<DaemonConfig, "cniDir">;
  readonly journal: Pick<Journal, "leaks" | "losses">;
};

interface LeaseLook {
  readonly leases: readonly Lease[];
  /** All addresses, by network. */
  readonly counts: readonly LeaseCountView[];
  readonly orphans: readonly Lease[];
  /** Why no orphan may be released; empty when orphans may be. */
  readonly doubt: string;
  /** Folders that could not be read. */
  readonly notes: readonly string[];
}

/** Each network is an order to the hand; a dataDir with more folders holds something else. */
const networksMax = 500;

/**
 * Looks for addresses of unknown containers. It reads the addresses first, so that a container that starts meanwhile is
 * known.
 */
export async function lookForOrphans(hand: Hand, sight: Sight, needs: OrphanNeeds): Promise<LeaseLook> {
  const { leases, notes } = await allLeases(hand, dataDirsOf(needs));
  const multus = await multusNames(needs.config.cniDir);
  const runtime = (await runtimeResults(hand, needs.config.runtimeCniDir))?.map(({ name }) => name);
  const known = new KnownContainers(knownIds(needs, multus.scratch), [...multus.results, ...(runtime ?? [])]);
  const alive = [...sight.alive].map((record) => String(record.containerId));
  const isDamaged = needs.journal.losses().length > 0;
  const doubt = isDamaged ? "the journal is damaged" : doubtOf(runtime, alive, needs.config.runtimeCniDir);
  const orphans = orphansAmong(leases, known);
  const counts = leaseCounts(leases);
  if (orphans.length === 0) return { leases, counts, orphans, doubt, notes };
  // This reads many folders, so only when orphans remain.
  const left = orphansAmong(orphans, new KnownContainers(await containersOfRuntimes(hand), []));
  return { leases, counts, orphans: left, doubt, notes };
}

function knownIds(needs: OrphanNeeds, scratch: readonly string[]): readonly string[] {
  const { journal } = needs;
  return [...[...journal.all(), ...journal.leaks()].map(({ containerId }) => String(containerId)), ...scratch];
}

/** The runtime's results count only if they are in the expected folder. */
function doubtOf(runtime: readonly string[] | undefined, alive: readonly string[], folder: string): string {
  if (runtime === undefined) return `the runtime keeps no results in ${folder}`;
  const [first] = alive;
  // On a node in order, one search of the names answers without a list of all their parts.
  if (first === undefined || runtime.some((name) => name.includes(`-${first}-`))) return "";
  const own = new KnownContainers([], runtime);
  if (alive.some((id) => own.hasResult(id))) return "";
  return `none of the ${alive.length} living containers of the journal is in ${folder}/results, so the runtime keeps its results elsewhere`;
}

/** Every author of a definition can name a folder, so an unreadable one must not hide the others. */
async function allLeases(
  hand: Hand,
  dataDirs: readonly string[],
): Promise<{ readonly leases: readonly Lease[]; readonly notes: readonly string[] }> {
  const leases: Lease[] = [];
  const notes: string[] = [];
  for (const dataDir of dataDirs) {
    try {
      leases.push(...(await leasesIn(hand, dataDir)));
    } catch (thrown) {
      if (hand.isLost) throw thrown;
      notes.push(`Addresses in ${dataDir} cannot be looked at: ${toLeveeError(thrown, "Looking").message}`);
    }
  }
  return { leases, notes };
}

async function leasesIn(hand: Hand, dataDir: string): Promise<readonly Lease[]> {
  await refuseShared(hand, dataDir);
  const networks =
    (await readHostFolder(hand, dataDir, ({ kind, name }) => (kind === "folder" ? name : undefined))) ?? [];
  const leases: Lease[] = [];
  for (const network of networks.slice(0, networksMax)) {
    const found = await readHostFolder(hand, join(dataDir, network), (file) => leaseOf(file, { dataDir, network }));
    leases.push(...(found ?? []));
  }
  return leases;
}

/** On a shared file system, containers of other nodes would look unknown and lose their addresses. */
async function refuseShared(hand: Hand, dataDir: string): Promise<void> {
  if ((await hand.list(dataDir))?.isShared === true)
    throw new LeveeError(
      "io-failed",
      "other nodes may use this file system as well, and their containers are not known here",
    );
}

/** The daemon itself writes to Multus' cache, so it reads it without a hand. */
async function multusNames(
  cniDir: string,
): Promise<{ readonly scratch: readonly string[]; readonly results: readonly string[] }> {
  return { scratch: await namesIn(cniDir), results: await namesIn(resultsFolderOf(cniDir)) };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return disk.readdir(folder).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  });
}
