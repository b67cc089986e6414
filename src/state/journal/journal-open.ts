import { disk } from "../../base/disk/disk.ts";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { ContainerIndex, loadIndex, type LoadedIndex } from "./container-index.ts";
import { roomBytes } from "./durability.ts";
import { loadJournal, type LoadedJournal } from "./journal-load.ts";
import { makeFolder } from "./journal-rewrite.ts";
import type { JournalState } from "./journal-state.ts";
import { JournalWriter } from "./journal-writer.ts";
import { LogFile, unwritable, type OpenLog } from "../files/log-file.ts";
import { offlineFolderOf } from "./offline-records.ts";
import { Losses } from "../files/losses.ts";
import { listQuarantine, putAside, type Damage, type Quarantined } from "../files/quarantine.ts";
import { Reserve } from "../files/reserve.ts";

export interface JournalOptions {
  readonly stateDir: string;
  readonly bootId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For fault injection: called after each entry reaches the file, with the number of entries so far. */
  readonly onWritten?: (count: number) => void;
  /** Multus' cache folder, imported once. */
  readonly multusDir?: string;
  /** For tests that count or break file operations. */
  readonly openLog?: OpenLog;
}

/** The parts of an open journal. */
export interface OpenedJournal {
  readonly state: JournalState;
  readonly writer: JournalWriter;
  readonly index: ContainerIndex;
  readonly reserve: Reserve;
  readonly log: LogFile;
  readonly quarantined: readonly Quarantined[];
  readonly losses: Losses;
}

export function journalPath(stateDir: string): string {
  return join(stateDir, "journal.log");
}

export function indexPath(stateDir: string): string {
  return join(stateDir, "containers.idx");
}

/** Reads both files, puts damage aside, and leaves them ready for new lines. */
export async function openJournal(options: JournalOptions): Promise<OpenedJournal> {
  const { stateDir } = options;
  // Read first: files of a newer version throw here, before anything is changed.
  const journal = await loadJournal(journalPath(stateDir));
  const index = completed(await loadIndex(indexPath(stateDir)), journal.state);
  await prepareFolder(stateDir);
  const known = await listQuarantine(stateDir);
  const { found, stored } = await putDamageAside(options, journal, index);
  const parts = assemble(options, journal, index);
  // Damage that could not be copied stays in place, and new lines follow it. The next start tries again.
  const sound = stored && (await makeSound(parts, options, { journal, index }));
  if (!sound) {
    await parts.log.continueBehind(journal.fileBytes, journal.endsCleanly);
    await secure(parts.log, options.logger);
  }
  await dropSettled(parts, index, options.logger);
  await findReserve(parts.reserve, options.logger);
  const quarantined = mergeByName(known, found);
  return { ...parts, quarantined, losses: new Losses(quarantined, options) };
}

/** The index with every live container, because its last lines may be missing after a power cut. */
function completed(index: LoadedIndex, state: JournalState): LoadedIndex {
  const ids = index.ids.union(new Set(state.containers()));
  return { ...index, ids, sound: index.sound && ids.size === index.ids.size };
}

type Parts = Omit<OpenedJournal, "quarantined" | "losses">;

async function prepareFolder(stateDir: string): Promise<void> {
  try {
    await makeFolder(stateDir);
    // Another program may have created it open to all, and the pods' configurations may contain secrets.
    await disk.chmod(stateDir, 0o700);
    // Created before any shim needs it, so that the daemon can watch it.
    await disk.mkdir(offlineFolderOf(stateDir), { recursive: true, mode: 0o700 });
    // A crash during a rewrite leaves these files. The file beside each is the valid one.
    for (const name of ["journal.log.tmp", "containers.idx.tmp", "reserve.tmp", "probe.tmp", "probe"]) {
      await disk.unlink(join(stateDir, name)).catch(ignoreMissing);
    }
  } catch (cause) {
    throw unwritable(stateDir, cause);
  }
}

/** Copies all damage into quarantine. `stored` is true when every copy succeeded. */
async function putDamageAside(
  options: JournalOptions,
  journal: LoadedJournal,
  index: LoadedIndex,
): Promise<{ found: Quarantined[]; stored: boolean }> {
  const found: Quarantined[] = [];
  let stored = true;
  for (const damage of damageIn(journal, index, options.clock.wallMs())) {
    options.logger.error("Found damage in the state folder and put it aside", {
      file: damage.source,
      offset: damage.offset,
      bytes: damage.content.length,
      reason: damage.reason,
    });
    try {
      found.push(await putAside(options.stateDir, { ...damage, bootId: options.bootId }));
    } catch (cause) {
      stored = false;
      const { source, offset, reason, foundWallMs } = damage;
      found.push({ name: "", source, offset, reason, foundWallMs, bytes: damage.content.length });
      options.logger.error("Cannot copy the damage into quarantine", { error: String(cause) });
    }
  }
  return { found, stored };
}

function damageIn(journal: LoadedJournal, index: LoadedIndex, foundWallMs: number): readonly Damage[] {
  const parts: Damage[] = [
    ...journal.damaged.map((part) => ({ ...part, source: "journal" as const, foundWallMs })),
    ...index.damaged.map((part) => ({
      ...part,
      source: "index" as const,
      reason: "its checksum is wrong",
      foundWallMs,
    })),
  ];
  const missing = missingReason(journal, index);
  if (missing !== undefined)
    parts.push({ source: "journal", offset: 0, content: new Uint8Array(), reason: missing, foundWallMs });
  return parts;
}

/** A journal starts with its genesis, before anything is in the index. Otherwise it was cut, emptied or removed. */
function missingReason(journal: LoadedJournal, index: LoadedIndex): string | undefined {
  if (journal.exists)
    return journal.state.genesis === undefined ? "its first record, the genesis, is missing" : undefined;
  return index.ids.size > 0 ? "the journal is gone, but its index is there" : undefined;
}

function assemble(options: JournalOptions, journal: LoadedJournal, index: LoadedIndex): Parts {
  const { stateDir, logger, clock } = options;
  const { state } = journal;
  const log = new LogFile(journalPath(stateDir), journal.goodBytes, { openLog: options.openLog, roomBytes });
  const containers = new ContainerIndex(indexPath(stateDir), index, options.openLog);
  const reserve = new Reserve(join(stateDir, "reserve"), clock);
  const onWritten = options.onWritten ?? ((): void => undefined);
  const writer = new JournalWriter({ log, index: containers, reserve, state, logger, onWritten });
  return { state, writer, index: containers, reserve, log };
}

/** Rewrites both files without damage if needed. Returns false when that fails; a new journal throws instead. */
async function makeSound(
  parts: Parts,
  options: JournalOptions,
  loaded: { journal: LoadedJournal; index: LoadedIndex },
): Promise<boolean> {
  const { journal, index } = loaded;
  const born = journal.state.genesis !== undefined;
  if (journal.sound && born && index.sound) {
    if (journal.tornBytes > 0) await cutTorn(parts.log, journal, options.logger);
    await secure(parts.log, options.logger);
    return true;
  }
  if (!born) {
    const genesis = {
      bootId: options.bootId,
      createdWallMs: options.clock.wallMs(),
      importDone: false,
      leaksDropped: 0,
    };
    parts.state.apply({ kind: "genesis", genesis }, 0);
  }
  try {
    await parts.writer.exclusive(() => parts.writer.rewrite());
    return true;
  } catch (cause) {
    if (!journal.exists) throw unwritable(parts.log.path, cause);
    options.logger.error("Cannot rewrite the damaged journal; appending to it as it is", {
      path: parts.log.path,
      error: String(cause),
    });
    return false;
  }
}

async function cutTorn(log: LogFile, journal: LoadedJournal, logger: Logger): Promise<void> {
  // The daemon died during this write and never confirmed it, so nothing depends on it.
  logger.info("Cut off the incomplete last record of the journal", {
    path: log.path,
    bytes: journal.tornBytes,
  });
  await log.cutTail();
}

/**
 * The last daemon may have been killed between the write of an intent and the end of its sync. What goes on with such a
 * record needs it on the disk. After a failure the journal is rewritten before its next use.
 */
async function secure(log: LogFile, logger: Logger): Promise<void> {
  await log.secure().catch((cause: unknown) => {
    logger.error("Cannot sync the journal of the last daemon", { path: log.path, error: String(cause) });
  });
}

/** Removes containers from the index whose removal reached the journal but not the index. */
async function dropSettled(parts: Parts, index: LoadedIndex, logger: Logger): Promise<void> {
  const settled = [...index.ids].filter((id) => !parts.state.has(id) && parts.state.isSettled(id));
  await parts.index.drop(settled).catch((cause: unknown) => {
    logger.warn("Cannot tidy the index of containers", { error: String(cause) });
  });
}

async function findReserve(reserve: Reserve, logger: Logger): Promise<void> {
  await reserve.find();
  await reserve.take().catch((cause: unknown) => {
    logger.warn("Cannot take the disk reserve; attachments are refused until that works", { error: String(cause) });
  });
}

function mergeByName(known: readonly Quarantined[], found: readonly Quarantined[]): readonly Quarantined[] {
  const names = new Set(found.map(({ name }) => name));
  return [...known.filter(({ name }) => !names.has(name)), ...found];
}

function ignoreMissing(cause: unknown): void {
  if (errnoOf(cause) !== "ENOENT") throw cause;
}
