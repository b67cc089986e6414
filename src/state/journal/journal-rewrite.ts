import { disk } from "../../base/disk/disk.ts";
import { dirname } from "node:path";
import { syncFolder, writePartsAtomically } from "../../base/atomic-file.ts";
import { LeveeError } from "../../base/errors.ts";
import { encodeLine } from "../files/checked-line.ts";
import type { LogFile } from "../files/log-file.ts";
import type { ContainerIndex } from "./container-index.ts";
import { entryToJson, type JournalEntry } from "./journal-entry.ts";
import type { JournalState } from "./journal-state.ts";

/** A whole journal may be longer than the memory that is left. */
const partCharsMax = 131_072;

interface RewriteParts {
  readonly log: LogFile;
  readonly index: ContainerIndex;
  readonly state: JournalState;
}

/**
 * Writes the journal anew from memory, in a folder that is made again if it is gone. A crash is safe: the old file stays
 * until the new one is complete and synced. `state` must not change meanwhile.
 */
export async function rewriteJournal({ log, index, state }: RewriteParts): Promise<void> {
  await makeFolder(dirname(log.path));
  // The index first: it may lack a container that the old journal lists as removed, but not the other way round.
  await index.rewrite();
  const sizes: number[] = [];
  try {
    await writePartsAtomically(log.path, partsOf(state, sizes), { mode: 0o600 });
  } catch (cause) {
    // The rename may have happened before the failure. Then the open file is no longer the journal.
    await log.checkPlace();
    throw cause;
  }
  await log.replaced(sizes.reduce((sum, bytes) => sum + bytes, 0));
  for (const [entry, bytes] of withSizes(state, sizes)) state.recount(entry, bytes);
}

/** Made open to nobody else, because the pods' configurations may contain secrets. */
export async function makeFolder(folder: string): Promise<void> {
  const created = await disk.mkdir(folder, { recursive: true, mode: 0o700 });
  if (created !== undefined) await syncFolder(dirname(created));
}

function* partsOf(state: JournalState, sizes: number[]): Generator<string> {
  let part = "";
  for (const entry of entriesOf(state)) {
    const line = encodeLine("L", entryToJson(entry));
    sizes.push(Buffer.byteLength(line));
    part += line;
    if (part.length < partCharsMax) continue;
    yield part;
    part = "";
  }
  yield part;
}

/** `recount` replaces values of the map that the snapshot walks through, and adds none. */
function* withSizes(state: JournalState, sizes: readonly number[]): Generator<readonly [JournalEntry, number]> {
  let at = 0;
  for (const entry of entriesOf(state)) {
    yield [entry, sizes[at] ?? 0];
    at += 1;
  }
}

function* entriesOf(state: JournalState): Generator<JournalEntry> {
  const { genesis } = state;
  if (genesis === undefined) throw new LeveeError("internal", "Cannot rewrite a journal before its genesis is known");
  yield { kind: "genesis", genesis };
  yield* state.snapshot();
}
