import { readFile } from "node:fs/promises";
import { errnoOf, LeveeError } from "../base/errors.ts";
import { endsCleanly, lineVersion, readLines, type GoodLine } from "./checked-line.ts";
import { entryFromJson, type JournalEntry } from "./journal-entry.ts";
import { JournalState } from "./journal-state.ts";

/** What a journal file amounts to. Reading it changes nothing on disk. */
export interface LoadedJournal {
  readonly exists: boolean;
  readonly state: JournalState;
  readonly fileBytes: number;
  /** Whether the file ends with a newline, or is empty. */
  readonly endsCleanly: boolean;
  /** Where the next line goes. */
  readonly goodBytes: number;
  readonly lines: number;
  readonly damaged: readonly DamagedPart[];
  /** Bytes of a last line that was cut off in the middle. */
  readonly tornBytes: number;
  /** Whether lines can be appended at `goodBytes` once the torn ones are cut off. */
  readonly sound: boolean;
}

export interface DamagedPart {
  readonly offset: number;
  readonly content: Buffer;
  readonly reason: string;
}

export async function loadJournal(path: string): Promise<LoadedJournal> {
  const file = await readFile(path).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ENOTDIR") return undefined;
    throw cause;
  });
  return { exists: file !== undefined, ...replay(withoutRoom(file ?? Buffer.alloc(0)), path) };
}

/** Zeros behind the last line are where the next one was to go: a daemon that was killed leaves them. */
function withoutRoom(file: Buffer): Buffer {
  let end = file.length;
  while (end > 0 && file[end - 1] === 0) end -= 1;
  // Behind a line that was not written to its end they are a part of what is torn.
  return end === 0 || file[end - 1] === 0x0a ? file.subarray(0, end) : file;
}

function replay(file: Buffer, path: string): Omit<LoadedJournal, "exists"> {
  const state = new JournalState();
  const damaged: DamagedPart[] = [];
  let lines = 0;
  let goodBytes = 0;
  let tornBytes = 0;
  for (const segment of readLines(file, "L")) {
    switch (segment.kind) {
      case "torn":
        tornBytes = segment.bytes;
        break;
      case "damaged":
        addDamage(damaged, { ...segment, reason: "its checksum is wrong" });
        break;
      case "line": {
        lines += 1;
        goodBytes = segment.offset + segment.bytes;
        const entry = readEntry(segment, path);
        if (entry instanceof LeveeError) addDamage(damaged, brokenLine(file, segment, entry));
        else state.apply(entry, segment.bytes);
      }
    }
  }
  const sound = damaged.length === 0 && goodBytes + tornBytes === file.length && (tornBytes > 0 || endsCleanly(file));
  return { state, fileBytes: file.length, endsCleanly: endsCleanly(file), goodBytes, lines, damaged, tornBytes, sound };
}

/** The entry of a line whose checksum is right, or what is wrong with it. A newer format stops everything: guessing could undo live pods. */
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

/** Neighbouring damage is one piece: a bad sector gives one file in quarantine, not hundreds. */
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
