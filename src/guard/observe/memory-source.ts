import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { foreignText } from "../detect/foreign-text.ts";
import type { PrometheusServer } from "../facts/guard-settings.ts";
import type { MemoryPast, MemoryQuestion, PodUse } from "../facts/memory-past.ts";
import { askPast, askUses } from "./ask-memory.ts";
import type { TextGetter } from "./get-text.ts";

/** A week changes slowly, and reads many samples. Half of the gap after which an answer no longer counts. */
const pastEveryMs = 900_000;
/** While lower memory is tried. The usual scrape interval is half of it. */
const usesEveryMs = 60_000;
/** After a failure. */
const againMs = 60_000;
const tickMs = 10_000;
const reasonCharsMax = 500;

interface MemorySourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent: nobody is asked. */
  readonly prometheus: PrometheusServer | undefined;
  readonly cluster: string;
  readonly wanted: () => readonly MemoryQuestion[];
  /** Over the network unless given. */
  readonly getText?: TextGetter;
}

interface Answered {
  readonly past: MemoryPast;
  /** By the monotonic clock. */
  readonly pastDueMs: number;
  readonly uses: readonly PodUse[];
  readonly usesDueMs: number;
}

/** What CNI daemons that tell nothing themselves used of their memory, as Prometheus has it. */
export class MemorySource {
  readonly #options: MemorySourceOptions;
  readonly #stop = new AbortController();
  readonly #answers = new Map<string, Answered>();
  #loop: Promise<void> | undefined;

  constructor(options: MemorySourceOptions) {
    this.#options = options;
  }

  start(): void {
    const { prometheus } = this.#options;
    if (prometheus !== undefined) this.#loop ??= this.#run(prometheus);
  }

  pasts(): readonly MemoryPast[] {
    return [...this.#answers.values()].map(({ past }) => past);
  }

  uses(): readonly PodUse[] {
    return [...this.#answers.values()].flatMap(({ uses }) => uses);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the guard ends"));
    await this.#loop;
  }

  async #run(prometheus: PrometheusServer): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#askAll(prometheus);
      await clock.sleep(tickMs, signal).catch(() => undefined);
    }
  }

  async #askAll(prometheus: PrometheusServer): Promise<void> {
    const wanted = this.#options.wanted();
    const keys = new Set(wanted.map(({ key }) => key));
    for (const key of this.#answers.keys()) if (!keys.has(key)) this.#answers.delete(key);
    for (const question of wanted) await this.#ask(prometheus, question);
  }

  async #ask(prometheus: PrometheusServer, question: MemoryQuestion): Promise<void> {
    const { clock, cluster, getText } = this.#options;
    const asking = { clock, prometheus, cluster, signal: this.#stop.signal, getText };
    const known = this.#known(question);
    // What is used now goes first: a person waits for it.
    const now = { uses: known.uses, usesDueMs: known.usesDueMs };
    if (question.isTried && clock.monotonicMs() >= known.usesDueMs) {
      now.uses = await askUses(asking, question).catch(() => []);
      now.usesDueMs = clock.monotonicMs() + usesEveryMs;
    }
    const past = clock.monotonicMs() < known.pastDueMs ? known.past : await this.#askPast(asking, question, known.past);
    const isNew = past !== known.past;
    const dueMs = clock.monotonicMs() + (past.unread === "" ? pastEveryMs : againMs);
    this.#answers.set(question.key, { ...now, past, pastDueMs: isNew ? dueMs : known.pastDueMs });
  }

  /** An answer from before stays, with its time, while there is no newer one. */
  async #askPast(
    asking: Parameters<typeof askPast>[0],
    question: MemoryQuestion,
    known: MemoryPast,
  ): Promise<MemoryPast> {
    try {
      const past = await askPast(asking, question);
      if (known.unread !== "") this.#options.logger.info("Prometheus tells again what a CNI daemon used");
      return past;
    } catch (thrown) {
      const unread = foreignText(thrown instanceof Error ? thrown.message : String(thrown), reasonCharsMax);
      if (known.unread === "" && !this.#stop.signal.aborted)
        this.#options.logger.warn("Cannot ask Prometheus what a CNI daemon used; its raised memory limit stays", {
          why: unread,
        });
      return { ...known, unread };
    }
  }

  /** Another limit, or another length of time, is another question. */
  #known({ key, limit, lengthMs }: MemoryQuestion): Answered {
    const known = this.#answers.get(key);
    const isSame = known?.past.limit === limit && known.past.atMs - known.past.fromMs === lengthMs;
    if (isSame) return known;
    const nothing = { peakBytes: 0, peakPod: "", quarters: new Map<string, number>(), killed: [], counted: 0 };
    const past = { key, limit, fromMs: -lengthMs, atMs: 0, unread: "", ...nothing };
    return { past, pastDueMs: Number.NEGATIVE_INFINITY, uses: [], usesDueMs: Number.NEGATIVE_INFINITY };
  }
}
