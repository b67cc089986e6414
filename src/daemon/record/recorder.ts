import { disk } from "../../base/disk/disk.ts";
import type { Cancel, Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { lastChars } from "../../base/short-text.ts";
import type { Subject } from "../../base/subject.ts";
import {
  encodeEntry,
  everyPod,
  podKey,
  type RecorderEntry,
  type RecorderFacts,
} from "../../state/recorder/recorder-entry.ts";
import { readStory, type RecorderStory } from "../../state/recorder/recorder-read.ts";
import { RecorderRing } from "../../state/recorder/recorder-ring.ts";
import { recorderFolder } from "../../state/recorder/recorder-segments.ts";
import { reserveBytes } from "../../state/files/reserve.ts";
import type { Timeline, TimelineFacts } from "./timeline.ts";

/** A kill of the daemon may lose entries of this time. One write per batch is cheap, even on a tenth of a core. */
const batchMs = 25;
/** A larger batch is written early, so that a storm does not fill the memory. */
const batchMax = 64;
/** The end of a plugin's stderr holds the reason. */
const textCharsMax = 1_024;
/** Pause before the next try after a failed write. */
const retryMs = 5_000;
/** Space left for the journal: twice its reserve. */
const freeBytesMin = 2 * reserveBytes;
/** Written at once, because such an entry may explain the kill that follows it. */
const urgent: ReadonlySet<string> = new Set(["failed", "leaked", "lost", "hung", "oom-killed", "daemon-ended"]);

interface RecorderOptions {
  readonly stateDir: string;
  /** For all files together. */
  readonly bytesMax: number;
  readonly bootId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The flight recorder: keeps the timeline of each pod in files that outlive a kill. Only the present batch is in memory;
 * questions are answered from the files. When a write fails, entries are dropped and counted, and the daemon's work
 * goes on.
 */
export class Recorder implements Timeline {
  readonly #options: RecorderOptions;
  readonly #folder: string;
  #ring: RecorderRing | undefined;
  /** Encoded when the batch is written. */
  #batch: RecorderEntry[] = [];
  #cancel: Cancel | undefined;
  #trouble: Trouble | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#folder = recorderFolder(options.stateDir);
  }

  /** Continues the files of the last daemon, and notes how that one ended. */
  start(): void {
    this.#guarded(() => {
      const last = this.#open().last();
      this.noteAll("daemon-started", { bootId: this.#options.bootId, detail: endOf(last) });
    });
    this.flush();
  }

  note(subject: Subject, what: string, facts: TimelineFacts = {}): void {
    const { containerId, verb } = subject;
    this.#take({ pod: podKey(subject.namespace, subject.name), containerId, verb, what, facts: shortened(facts) });
  }

  /** Notes an entry for every pod of the node. */
  noteAll(what: string, facts: TimelineFacts & RecorderFacts = {}): void {
    this.#take({ pod: everyPod, containerId: "", verb: "", what, facts: shortened(facts) });
  }

  /** Oldest first, including entries for every pod. */
  of(namespace: string, name: string): Promise<RecorderStory> {
    return this.read((folder) => readStory(folder, namespace, name));
  }

  /** Has a reader look at the files, with all that was noted until now. */
  async read<T>(reader: (folder: string) => Promise<T>): Promise<T> {
    this.flush();
    return await reader(this.#folder);
  }

  /** Why entries are being lost; undefined while none are. */
  get notice(): string | undefined {
    return this.#trouble === undefined ? undefined : `The flight recorder cannot write: ${this.#trouble.reason}`;
  }

  /** Writes the present batch. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    if (this.#trouble !== undefined && this.#options.clock.monotonicMs() < this.#trouble.nextTryMs) {
      this.#trouble.lost += batch.length;
      return;
    }
    this.#guarded(() => this.#write(batch), batch.length);
  }

  stop(): void {
    this.noteAll("daemon-ended", { detail: "it was asked to" });
    this.flush();
    this.#ring?.close();
    this.#ring = undefined;
  }

  #take(entry: Omit<RecorderEntry, "wallMs">): void {
    this.#batch.push({ ...entry, wallMs: this.#options.clock.wallMs() });
    if (this.#batch.length >= batchMax || urgent.has(entry.what)) this.flush();
    else this.#cancel ??= this.#options.clock.after(batchMs, () => this.flush());
  }

  #write(batch: readonly RecorderEntry[]): void {
    this.#requireRoom();
    const lines = batch.map(encodeEntry).join("");
    const gap = this.#trouble;
    const ring = this.#open();
    ring.append(gap === undefined ? lines : `${this.#gapLine(gap)}${lines}`);
    if (gap === undefined) return;
    this.#trouble = undefined;
    this.#options.logger.info("The flight recorder goes on", { entriesLost: gap.lost });
  }

  #gapLine({ lost, reason }: Trouble): string {
    const facts = { detail: `${lost} entries could not be written: ${reason}` };
    const wallMs = this.#options.clock.wallMs();
    return encodeEntry({ wallMs, pod: everyPod, containerId: "", verb: "", what: "recorder-gap", facts });
  }

  #open(): RecorderRing {
    return (this.#ring ??= new RecorderRing(this.#folder, this.#options.bytesMax));
  }

  /** The journal comes first: the flight recorder must not use up its reserve for deletes on a full disk. */
  #requireRoom(): void {
    const freeBytes = disk.freeBytesSync(this.#options.stateDir);
    if (freeBytes < freeBytesMin)
      throw new Error(`${freeBytes} bytes are free, and the last ${freeBytesMin} are left to the journal`);
  }

  #guarded(work: () => void, entries = 0): void {
    try {
      work();
    } catch (thrown) {
      this.#failed(thrown, entries);
    }
  }

  #failed(thrown: unknown, entries: number): void {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const reason = `${this.#folder}: ${errnoOf(thrown) ?? message}`;
    this.#ring?.close();
    this.#ring = undefined;
    const nextTryMs = this.#options.clock.monotonicMs() + retryMs;
    if (this.#trouble !== undefined) {
      this.#trouble.lost += entries;
      this.#trouble.nextTryMs = nextTryMs;
      return;
    }
    this.#trouble = { reason, nextTryMs, lost: entries };
    this.#options.logger.warn("The flight recorder cannot write; levee why will have a gap", { reason });
  }
}

interface Trouble {
  readonly reason: string;
  nextTryMs: number;
  lost: number;
}

/** How the previous daemon ended, by its last entry. */
function endOf(last: RecorderEntry | undefined): string {
  if (last === undefined) return "nothing is on record from before";
  return last.what === "daemon-ended" ? "the one before it had ended in order" : "the one before it was killed or died";
}

function shortened(facts: TimelineFacts & RecorderFacts): RecorderFacts {
  const { detail, stderr } = facts;
  if (isShort(detail) && isShort(stderr)) return facts;
  return { ...facts, detail: shortText(detail), stderr: shortText(stderr) };
}

function isShort(text: string | undefined): boolean {
  return text === undefined || text.length <= textCharsMax;
}

function shortText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : lastChars(text, textCharsMax);
}
