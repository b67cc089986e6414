import type { Clock } from "../../base/clock.ts";
import { firstChars } from "../../base/short-text.ts";
import type { Subject } from "../../base/subject.ts";
import type { PluginRunsView, RecentFailure, TotalsView } from "../../wire/top-view.ts";
import { PluginRuns } from "./plugin-runs.ts";
import type { Timeline, TimelineFacts } from "./timeline.ts";

/** A person reads only the last few. */
const failuresMax = 10;
/** `levee why` has the whole reason. */
const reasonCharsMax = 200;

/** Timeline entries that count, and their name in the totals. */
const counted: Readonly<Record<string, keyof TotalsView | undefined>> = {
  asked: "asked",
  acknowledged: "attached",
  finished: "detached",
  failed: "failed",
  ran: "delegates",
};

/** Keeps what only `levee top` shows, taken from the timeline. It never takes more than a few KiB. */
export class Pulse implements Timeline {
  readonly #clock: Clock;
  readonly #next: Timeline;
  readonly #plugins = new PluginRuns();
  readonly #failures: RecentFailure[] = [];
  readonly #totals = { asked: 0, attached: 0, detached: 0, failed: 0, delegates: 0 };

  /** Passes every note on to `next`. */
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
    else if (what === "ran") this.#plugins.ran(subject.verb, facts);
  }

  get totals(): TotalsView {
    return { ...this.#totals };
  }

  /** Newest first. */
  get failures(): readonly RecentFailure[] {
    return this.#failures.toReversed();
  }

  /** Slowest first. */
  plugins(): readonly PluginRunsView[] {
    return this.#plugins.all();
  }

  #failed({ namespace, name, verb }: Subject, detail: string): void {
    const reason = firstChars(detail, reasonCharsMax);
    this.#failures.push({ wallMs: this.#clock.wallMs(), namespace, pod: name, verb, reason });
    if (this.#failures.length > failuresMax) this.#failures.shift();
  }
}
