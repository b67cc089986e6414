import { LeveeError } from "../../base/errors.ts";
import { endsCleanly, lineVersion, type GoodLine, type Segment } from "../files/checked-line.ts";
import { LineFile } from "../files/line-file.ts";
import { entryFromJson, type JournalEntry } from "./journal-entry.ts";
import { JournalState } from "./journal-state.ts";
import { forgetCommonParts } from "./record-json.ts";
import { isBehindLastSync, isHole, provesSync } from "./unsynced-end.ts";

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
  using file = LineFile.open(path);
  if (file !== undefined) return { exists: true, ...new Replay(file, path).run() };
  const nothing = { fileBytes: 0, goodBytes: 0, lines: 0, damaged: [], tornBytes: 0 };
  return { exists: false, state: new JournalState(), endsCleanly: true, sound: true, ...nothing };
}

class Replay {
  readonly #path: string;
  readonly #file: LineFile;
  /** Where reading ends. */
  readonly #endBytes: number;
  readonly #state = new JournalState();
  readonly #damaged: DamagedPart[] = [];
  #lines = 0;
  #goodBytes = 0;
  #tornBytes = 0;

  constructor(file: LineFile, path: string) {
    this.#path = path;
    this.#file = file;
    // After an incomplete line the zeros are part of the torn bytes.
    this.#endBytes = endsWithNewline(file, file.linesBytes) ? file.linesBytes : file.fileBytes;
  }

  run(): Omit<LoadedJournal, "exists"> {
    this.#readAll();
    forgetCommonParts();
    const [fileBytes, state, damaged, lines] = [this.#endBytes, this.#state, this.#damaged, this.#lines];
    const [goodBytes, tornBytes] = [this.#goodBytes, this.#tornBytes];
    const endsCleanly = endsWithNewline(this.#file, fileBytes);
    const sound = damaged.length === 0 && goodBytes + tornBytes === fileBytes && (tornBytes > 0 || endsCleanly);
    return { state, fileBytes, endsCleanly, goodBytes, lines, damaged, tornBytes, sound };
  }

  #readAll(): void {
    const segments = this.#file.segments("L", this.#endBytes);
    for (let next = segments.next(); next.done !== true; next = segments.next()) {
      const segment = next.value;
      if (!this.#mayBeTorn(segment)) {
        this.#take(segment);
        continue;
      }
      const rest = [segment, ...segments];
      if (rest.every((later) => this.#isUnsynced(later))) {
        this.#goodBytes = segment.offset;
        this.#tornBytes = this.#endBytes - segment.offset;
      } else for (const later of rest) this.#take(later);
    }
  }

  #mayBeTorn(segment: Segment): boolean {
    return segment.kind === "damaged" && isBehindLastSync(segment.offset, this.#file) && isHole(segment, this.#file);
  }

  /** Whether no call relies on a segment behind a hole, because it was never synced. */
  #isUnsynced(segment: Segment): boolean {
    if (segment.kind === "torn") return true;
    if (segment.kind === "damaged") return isHole(segment, this.#file);
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

function brokenLine(file: LineFile, line: GoodLine, problem: LeveeError): DamagedPart {
  return { offset: line.offset, content: file.read(line.offset, line.bytes), reason: problem.message };
}

/** An empty file does, too: a line can be appended. */
function endsWithNewline(file: LineFile, endBytes: number): boolean {
  return endBytes === 0 || endsCleanly(file.read(endBytes - 1, 1));
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
