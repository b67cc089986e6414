import type { SimEvent } from "../node/sim-event.ts";

/** Lines that are kept for a person. The hash has all of them. */
const usualLinesMax = 400;

/** The log of a run: a hash over all that happened, and the last lines of it. Two runs with the same hash are the same. */
export class EventLog {
  readonly lines: string[] = [];
  #high = 0x811c9dc5;
  #low = 0x01000193;
  #count = 0;
  readonly #linesMax: number;

  constructor(linesMax = usualLinesMax) {
    this.#linesMax = linesMax;
  }

  add(nowMs: number, event: SimEvent): void {
    const line = `${nowMs.toFixed(3)} ${JSON.stringify(event)}`;
    this.#count += 1;
    for (let at = 0; at < line.length; at += 1) {
      const code = line.charCodeAt(at);
      this.#high = Math.imul(this.#high ^ code, 16_777_619);
      this.#low = Math.imul(this.#low + code, 2_654_435_761) ^ (this.#low >>> 15);
    }
    this.lines.push(line);
    if (this.lines.length > 2 * this.#linesMax) this.lines.splice(0, this.#linesMax);
  }

  /** Number of events and a hash over them. */
  get hash(): string {
    const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");
    return `${this.#count}-${hex(this.#high)}${hex(this.#low)}`;
  }
}
