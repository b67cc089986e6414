/** Some thousand removals. A longer list costs more than a rewrite of the journal. */
const owedBytesMax = 262_144;

/** Writes that the disk refused since the start, and the last reason. */
interface Refusals {
  readonly count: number;
  readonly reason: string;
}

/**
 * What the disk has refused. Lines that memory has all the same go out in front of the next line, so that the file tells
 * the same story.
 */
export class DiskDebt {
  #lines: string[] = [];
  #bytes = 0;
  #count = 0;
  #refusals: Refusals = { count: 0, reason: "" };

  get refusals(): Refusals {
    return this.#refusals;
  }

  /** How many entries would be lost with the process. */
  get count(): number {
    return this.#count;
  }

  get text(): string {
    return this.#lines.join("");
  }

  refused(reason: string): void {
    this.#refusals = { count: this.#refusals.count + 1, reason };
  }

  /** Returns false when there are too many lines to keep, so that only a rewrite pays the debt. */
  add(line: string, bytes: number): boolean {
    this.#count += 1;
    this.#bytes += bytes;
    if (this.#bytes > owedBytesMax) this.#lines = [];
    else this.#lines.push(line);
    return this.#bytes <= owedBytesMax;
  }

  /** The disk has everything. */
  paid(): void {
    this.#lines = [];
    this.#bytes = 0;
    this.#count = 0;
  }
}
