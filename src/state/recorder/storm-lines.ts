import type { RecorderEntry } from "./recorder-entry.ts";

/** A time in which pods stood in line on a node. */
export interface StormLine {
  readonly fromMs: number;
  readonly toMs: number;
  /** The pods that waited, each with its admission class. */
  readonly pods: ReadonlyMap<string, string>;
}

/** A line that was empty for so long begins another one. */
export const stormGapMs = 300_000;
/** A busy node has a short line now and then. The largest are enough: the others are no storm. */
const linesMax = 12;

/** Finds the times in which pods stood in line, from entries in their order. Only the largest are kept. */
export class StormLines {
  #kept: StormLine[] = [];
  #last: OpenLine | undefined;

  /** By the entries of pods that came into the line or left it. */
  look({ wallMs, pod, verb, what, facts }: RecorderEntry): void {
    if (verb !== "ADD") return;
    if (what === "waiting") this.#at(wallMs).pods.set(pod, classOf(facts["detail"]));
    // A pod that never waited gets its turn as well.
    else if (what === "permitted" && this.#last?.pods.has(pod) === true) this.#at(wallMs);
  }

  /** Oldest first. */
  end(): readonly StormLine[] {
    this.#keep();
    return this.#kept.toSorted((left, right) => left.fromMs - right.fromMs);
  }

  /** The line of this moment, which lasts at least until now. */
  #at(wallMs: number): OpenLine {
    if (this.#last !== undefined && wallMs - this.#last.toMs > stormGapMs) this.#keep();
    this.#last ??= { fromMs: wallMs, toMs: wallMs, pods: new Map() };
    this.#last.toMs = Math.max(this.#last.toMs, wallMs);
    return this.#last;
  }

  #keep(): void {
    if (this.#last !== undefined && this.#last.pods.size > 0) this.#kept.push(this.#last);
    this.#kept = this.#kept.toSorted((left, right) => right.pods.size - left.pods.size).slice(0, linesMax);
    this.#last = undefined;
  }
}

interface OpenLine extends StormLine {
  toMs: number;
  readonly pods: Map<string, string>;
}

/** `ordinary, position 31 of 40: …`. */
function classOf(detail: string | number = ""): string {
  return /^([a-z]+), position /u.exec(String(detail))?.[1] ?? "";
}
