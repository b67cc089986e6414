import { readFile } from "node:fs/promises";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { endsCleanly, lineVersion, readLines, type GoodLine, type Segment } from "../files/checked-line.ts";
import { entryFromJson, type JournalEntry } from "./journal-entry.ts";
import { JournalState } from "./journal-state.ts";
import { isBehindLastSync, isHole, provesSync, type FileEnds } from "./unsynced-end.ts";

/** The content of a journal file. Reading changes nothing on disk. */
export interface LoadedJournal {
  readonly exists: boolean;
  readonly state: JournalState;
  readonly fileBytes: number;
  /** Whether the file ends with a newline, or is empty. */
  readonly endsCleanly: boolean;
  /** The offset of the next line. */
  readonly goodBytes: number;
  readonly lines: number;
  readonly damaged: readonly DamagedPart[];
  /** Bytes of incomplete lines at the end. */
  readonly tornBytes: number;
  /** Whether lines can be appended at `goodBytes` after the torn ones are cut off. */
  readonly sound: boolean;
}

interface DamagedPart {
  readonly offset: number;
  readonly content: Buffer;
  readonly reason: string;
}

export async function loadJournal(path: string): Promise<LoadedJournal> {
  const file = await readFile(path).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ENOTDIR") return undefined;
    throw cause;
  });
  return { exists: file !== undefined, ...new Replay(file ?? Buffer.alloc(0), path).run() };
}

/** Without the zeros after the last line, which are the room that a killed daemon leaves. */
function linesBytesOf(file: Buffer): number {
  let end = file.length;
  while (end > 0 && file[end - 1] === 0) end -= 1;
  return end;
}

class Replay {
  readonly #path: string;
  readonly #file: Buffer;
  readonly #ends: FileEnds;
  readonly #state = new JournalState();
  readonly #damaged: DamagedPart[] = [];
  #lines = 0;
  #goodBytes = 0;
  #tornBytes = 0;

  constructor(file: Buffer, path: string) {
    const linesBytes = linesBytesOf(file);
    this.#path = path;
    this.#ends = { fileBytes: file.length, linesBytes };
    // After an incomplete line the zeros are part of the torn bytes.
    this.#file = linesBytes === 0 || file[linesBytes - 1] === 0x0a ? file.subarray(0, linesBytes) : file;
  }

  run(): Omit<LoadedJournal, "exists"> {
    this.#readAll();
    const [file, state, damaged, lines] = [this.#file, this.#state, this.#damaged, this.#lines];
    const [goodBytes, tornBytes] = [this.#goodBytes, this.#tornBytes];
    const clean = endsCleanly(file);
    const sound = damaged.length === 0 && goodBytes + tornBytes === file.length && (tornBytes > 0 || clean);
    return { state, fileBytes: file.length, endsCleanly: clean, goodBytes, lines, damaged, tornBytes, sound };
  }

  #readAll(): void {
    const segments = readLines(this.#file, "L");
    for (let next = segments.next(); next.done !== true; next = segments.next()) {
      const segment = next.value;
      if (!this.#mayBeTorn(segment)) {
        this.#take(segment);
        continue;
      }
      const rest = [segment, ...segments];
      if (rest.every((later) => this.#isUnsynced(later))) {
        this.#goodBytes = segment.offset;
        this.#tornBytes = this.#file.length - segment.offset;
      } else for (const later of rest) this.#take(later);
    }
  }

  #mayBeTorn(segment: Segment): boolean {
    return segment.kind === "damaged" && isBehindLastSync(segment.offset, this.#ends) && isHole(segment, this.#ends);
  }

  /** Whether no call relies on a segment behind a hole, because it was never synced. */
  #isUnsynced(segment: Segment): boolean {
    if (segment.kind === "torn") return true;
    if (segment.kind === "damaged") return isHole(segment, this.#ends);
    const entry = readEntry(segment, this.#path);
    return !(entry instanceof LeveeError) && !provesSync(entry, this.#state);
  }

  #take(segment: Segment): void {
    switch (segment.kind) {
      case "torn":
        this.#tornBytes = segment.bytes;
        break;
      case "damaged":
        addDamage(this.#damaged, { ...segment, reason: "its checksum is wrong" });
        break;
      case "line": {
        this.#lines += 1;
        this.#goodBytes = segment.offset + segment.bytes;
        const entry = readEntry(segment, this.#path);
        if (entry instanceof LeveeError) addDamage(this.#damaged, brokenLine(this.#file, segment, entry));
        else this.#state.apply(entry, segment.bytes);
      }
    }
  }
}

/**
 * The entry of a line with a correct checksum, or its problem. A newer format is fatal, because guessing could undo
 * live pods.
 */
function readEntry(line: GoodLine, path: string): JournalEntry | LeveeError {
  if (line.version !== lineVersion)
    throw newer(path, line, `format version ${line.version}, this build reads version ${lineVersion}`);
  try {
    return entryFromJson(line.body);
  } catch (cause) {
    if (!(cause instanceof LeveeError)) throw cause;
    if (cause.code === "state-newer") throw newer(path, line, cause.details);
    return cause;
  }
}

function newer(path: string, line: GoodLine, seen: string): LeveeError {
  return new LeveeError(
    "state-newer",
    `Cannot open ${path} as a newer Levee wrote it: the record at byte ${line.offset} has ${seen}; install the newer version again, or drain the node and move the file away`,
  );
}

function brokenLine(file: Buffer, line: GoodLine, problem: LeveeError): DamagedPart {
  const content = Buffer.from(file.subarray(line.offset, line.offset + line.bytes));
  return { offset: line.offset, content, reason: problem.message };
}

/** Joins neighbouring damage, so that a bad sector gives one file in quarantine and not hundreds. */
function addDamage(parts: DamagedPart[], part: DamagedPart): void {
  const last = parts.at(-1);
  const gap = last === undefined ? Infinity : part.offset - (last.offset + last.content.length);
  if (last === undefined || gap > 1) {
    parts.push(part);
    return;
  }
  const content = Buffer.concat([last.content, Buffer.alloc(gap, "\n"), part.content]);
  parts[parts.length - 1] = { offset: last.offset, content, reason: last.reason };
}
