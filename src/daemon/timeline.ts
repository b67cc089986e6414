import type { Clock } from "../base/clock.ts";
import { lastChars } from "../base/short-text.ts";
import type { TimelineEntry } from "../wire/node-view.ts";

/** Enough for the last hundred pods; older entries give way. */
const entriesMax = 4_096;
/** The end of stderr says why; the rest is in the plugin's own log. */
const textCharsMax = 1_024;

/** Which pod an entry belongs to. */
export interface Subject {
  readonly namespace: string;
  readonly name: string;
  readonly containerId: string;
  readonly verb: string;
}

/** What happened to each pod lately, so that `levee why` can tell. A ring in memory: bounded, and lost with the process. */
export class Timeline {
  readonly #clock: Clock;
  readonly #ring: Kept[] = [];
  #next = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(subject: Subject, what: string, facts: Omit<Partial<TimelineEntry>, "wallMs" | "what"> = {}): void {
    const entry: TimelineEntry = {
      ...facts,
      wallMs: this.#clock.wallMs(),
      containerId: subject.containerId,
      verb: subject.verb,
      what,
      ...(facts.detail === undefined ? {} : { detail: lastChars(facts.detail, textCharsMax) }),
      ...(facts.stderr === undefined ? {} : { stderr: lastChars(facts.stderr, textCharsMax) }),
    };
    this.#ring[this.#next] = { namespace: subject.namespace, name: subject.name, entry };
    this.#next = (this.#next + 1) % entriesMax;
  }

  /** Oldest first. Without a pod name (a runtime that sends none) the container ID serves as one. */
  of(namespace: string, name: string): readonly TimelineEntry[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)]
      .filter((kept) => kept.namespace === namespace && (kept.name === name || kept.entry.containerId === name))
      .map((kept) => kept.entry);
  }
}

interface Kept {
  readonly namespace: string;
  readonly name: string;
  readonly entry: TimelineEntry;
}
