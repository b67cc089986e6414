import type { SimApi } from "../api/sim-api.ts";
import type { SimProcess } from "../time/sim-process.ts";

/** What client-go allows Multus: so many requests per second, and so many at once after a rest. All of it shares them. */
const perSecond = 50;
const burst = 50;
/** After this a request fails. */
const deadlineMs = 60_000;
const againMs = 1_000;
/** The server ends a watch after five to ten minutes. */
const watchMs = 450_000;
/** Its informers: pods of the node, and network definitions. */
const informers = 2;
/** More events than this are dropped. */
const eventsMax = 1_000;

/**
 * The requests of Multus to the API server: lists and watches at its start, then for each ADD a GET and a PUT of the pod,
 * which its shim waits for, and an event for each interface. A DEL needs none.
 */
export class MultusApi {
  readonly #api: SimApi;
  readonly #process: SimProcess;
  /** Below zero: so many wait in line. */
  #tokens = burst;
  #countedMs: number;
  #events = 0;

  constructor(api: SimApi, process: SimProcess) {
    this.#api = api;
    this.#process = process;
    this.#countedMs = process.monotonicMs();
  }

  start(): void {
    for (let number = 0; number < informers; number += 1) {
      this.#api.count("list");
      this.#api.count("watch");
      this.#process.every(watchMs, () => this.#api.count("watch"));
    }
  }

  /** Writes the status of a pod that is attached. False when the server did not answer in time. */
  async tellStatus(): Promise<boolean> {
    return (await this.#ask("get")) && (await this.#ask("put"));
  }

  /** Events are sent one after the other, and nobody waits for them. */
  tellEvents(count: number): void {
    const isSending = this.#events > 0;
    this.#events = Math.min(eventsMax, this.#events + count);
    if (!isSending && this.#events > 0) void this.#sendEvents();
  }

  async #sendEvents(): Promise<void> {
    for (; this.#events > 0; this.#events -= 1) await this.#ask("post");
  }

  async #ask(method: "get" | "put" | "post"): Promise<boolean> {
    const { trouble } = this.#api;
    const process = this.#process;
    const untilMs = process.monotonicMs() + deadlineMs;
    for (;;) {
      await process.sleep(this.#lineMs());
      if (process.monotonicMs() > untilMs) return false;
      this.#api.count(method);
      await process.sleep(process.random() * trouble.answerMsMax);
      if (!trouble.isAway && process.random() >= trouble.busyShare) return true;
      await process.sleep(againMs);
    }
  }

  /** Takes the next place in line, and says how long it is until then. */
  #lineMs(): number {
    const nowMs = this.#process.monotonicMs();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#countedMs) * perSecond) / 1_000) - 1;
    this.#countedMs = nowMs;
    return Math.max(0, (-this.#tokens * 1_000) / perSecond);
  }
}
