import { disk } from "../../base/disk/disk.ts";
import type { DiskFile } from "../../base/disk/disk-door.ts";
import { errnoOf } from "../../base/errors.ts";
import { decodeEntries, everyPod, podKey, type RecorderEntry, type RecorderFacts } from "./recorder-entry.ts";
import { listSegments } from "./recorder-segments.ts";

/** The flight recorder's entries of one pod. */
export interface RecorderStory {
  /** Oldest first. */
  readonly entries: readonly RecorderEntry[];
  /** The number of older entries that were left out because of the limits. */
  readonly omitted: number;
}

/** Enough for a pod that fails every 12 s for an hour. An answer must fit into a frame. */
const entriesMax = 1_000;
const entryBytesMax = 400_000;
/** Bytes read at once. The daemon reads too, and has little memory. */
const sliceBytes = 65_536;
const newlineByte = 0x0a;

/**
 * All entries about one pod, and the entries about all pods. It only reads, so a daemon may write at the same time.
 * With an empty namespace the name is the beginning of a container ID.
 */
export async function readStory(folder: string, namespace: string, name: string): Promise<RecorderStory> {
  const story = new Story(namespace, name);
  await readSegments(folder, (lines) => story.look(lines));
  story.leaveOutStrangers();
  return story;
}

/** Every entry, oldest first, for a reader with memory of its own. */
export async function eachRecorderEntry(folder: string, onEntry: (entry: RecorderEntry) => void): Promise<void> {
  await readSegments(folder, (lines) => decodeEntries(lines).forEach(onEntry));
}

async function readSegments(folder: string, look: (lines: Buffer) => void): Promise<void> {
  const slice = Buffer.alloc(sliceBytes);
  for (const { path } of listSegments(folder)) {
    const file = await openUnlessGone(path);
    if (file === undefined) continue;
    try {
      await readFileInto(look, file, slice);
    } finally {
      await file.close();
    }
  }
}

/** The writer may have dropped the file since the listing. */
async function openUnlessGone(path: string): Promise<DiskFile | undefined> {
  try {
    return await disk.open(path, "r");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

async function readFileInto(look: (lines: Buffer) => void, file: DiskFile, slice: Buffer): Promise<void> {
  let kept = 0;
  for (;;) {
    const { bytesRead } = await file.read(slice, kept, slice.length - kept, null);
    const filled = slice.subarray(0, kept + bytesRead);
    const end = filled.lastIndexOf(newlineByte) + 1;
    look(filled.subarray(0, end));
    // No line is as long as a slice, so a slice without a newline is damage.
    const rest = end === 0 && filled.length === slice.length ? filled.subarray(0, 0) : filled.subarray(end);
    rest.copy(slice);
    kept = rest.length;
    if (bytesRead === 0) return;
  }
}

/** Collects the entries of a pod. It parses only lines that contain the pod's name. */
class Story implements RecorderStory {
  readonly #isWanted: (entry: RecorderEntry) => boolean;
  readonly #needles: readonly Buffer[];
  #entries: RecorderEntry[] = [];
  #bootId: RecorderFacts[string];
  readonly #sizes: number[] = [];
  #bytes = 0;
  #omitted = 0;

  constructor(namespace: string, name: string) {
    const key = podKey(namespace, name);
    this.#isWanted = ({ pod, containerId }) => {
      if (pod === everyPod) return true;
      return namespace === "" ? containerId.startsWith(name) : pod === key;
    };
    // As in the array of an entry, where quotes inside texts are escaped.
    const own = namespace === "" ? `,${JSON.stringify(name).slice(0, -1)}` : `,${JSON.stringify(key)},`;
    this.#needles = [Buffer.from(own), Buffer.from(`,"${everyPod}",`)];
  }

  get entries(): readonly RecorderEntry[] {
    return this.#entries;
  }

  get omitted(): number {
    return this.#omitted;
  }

  look(lines: Buffer): void {
    const starts = new Set<number>();
    for (const needle of this.#needles) {
      for (let at = lines.indexOf(needle); at >= 0; at = lines.indexOf(needle, at + 1)) {
        starts.add(lines.lastIndexOf(newlineByte, at) + 1);
      }
    }
    for (const start of [...starts].toSorted((left, right) => left - right)) {
      const newline = lines.indexOf(newlineByte, start);
      this.#take(lines.subarray(start, newline < 0 ? lines.length : newline + 1));
    }
  }

  /** Drops entries about networks that this pod does not use. */
  leaveOutStrangers(): void {
    const networks = new Set(this.#entries.flatMap(({ pod, facts }) => (pod === everyPod ? [] : [facts["network"]])));
    this.#entries = this.#entries.filter(
      ({ pod, facts }) => pod !== everyPod || facts["network"] === undefined || networks.has(facts["network"]),
    );
  }

  #take(line: Buffer): void {
    for (const found of decodeEntries(line).filter(this.#isWanted)) {
      const entry = this.#explained(found);
      // The story starts with an entry of the pod itself.
      if (entry.pod === everyPod && this.#entries.length === 0) continue;
      this.#entries.push(entry);
      this.#sizes.push(line.length);
      this.#bytes += line.length;
    }
    while (this.#entries.length > entriesMax || this.#bytes > entryBytesMax) {
      this.#entries.shift();
      this.#bytes -= this.#sizes.shift() ?? 0;
      this.#omitted += 1;
    }
  }

  /** Marks a start after a reboot. A starting daemon does not know the last daemon's boot, but the reader sees both. */
  #explained(entry: RecorderEntry): RecorderEntry {
    const { bootId } = entry.facts;
    if (entry.what !== "daemon-started" || bootId === undefined) return entry;
    const isSameBoot = this.#bootId === undefined || this.#bootId === bootId;
    this.#bootId = bootId;
    return isSameBoot ? entry : { ...entry, facts: { ...entry.facts, detail: "the machine was started again" } };
  }
}
