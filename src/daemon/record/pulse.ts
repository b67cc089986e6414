import type { Clock } from "../../base/clock.ts";
import { firstChars } from "../../base/short-text.ts";
import type { Subject } from "../../base/subject.ts";
import type { PluginRunsView, RecentFailure, TotalsView } from "../../wire/top-view.ts";
import { DelegateTimesBook } from "./delegate-times.ts";
import type { Timeline, TimelineFacts } from "./timeline.ts";

/** A person reads the last few. */
const failuresMax = 10;
/** Of a failure's reason; the whole of it is in `levee why`. */
const reasonCharsMax = 200;

/** Which entry of the timeline counts as what. */
const counted: Readonly<Record<string, keyof TotalsView | undefined>> = {
  asked: "asked",
  acknowledged: "attached",
  finished: "detached",
  failed: "failed",
  ran: "delegates",
};

/** What `levee top` shows and nobody else keeps, taken from what is noted anyway. A few KiB, whatever happens. */
export class Pulse implements Timeline {
  readonly #clock: Clock;
  readonly #next: Timeline;
  readonly #delegates = new DelegateTimesBook();
  readonly #failures: RecentFailure[] = [];
  readonly #totals = { asked: 0, attached: 0, detached: 0, failed: 0, delegates: 0 };

  /** Whatever is noted goes on to `next`. */
  constructor(clock: Clock, next: Timeline) {
    this.#clock = clock;
    this.#next = next;
  }

  note(subject: Subject, what: string, facts: TimelineFacts = {}): void {
    this.#next.note(subject, what, facts);
    const name = counted[what];
    if (name === undefined) return;
    this.#totals[name] += 1;
    if (what === "failed") this.#failed(subject, facts.detail ?? "");
    else if (what === "ran") this.#delegates.ran(subject.verb, facts);
  }

  get totals(): TotalsView {
    return { ...this.#totals };
  }

  /** Newest first. */
  get failures(): readonly RecentFailure[] {
    return this.#failures.toReversed();
  }

  /** Slowest first. */
  delegates(): readonly PluginRunsView[] {
    return this.#delegates.all();
  }

  #failed({ namespace, name, verb }: Subject, detail: string): void {
    const reason = firstChars(detail, reasonCharsMax);
    this.#failures.push({ wallMs: this.#clock.wallMs(), namespace, pod: name, verb, reason });
    if (this.#failures.length > failuresMax) this.#failures.shift();
  }
}
