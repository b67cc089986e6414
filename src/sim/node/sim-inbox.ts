import type { SimProcess } from "../time/sim-process.ts";
import type { FromDaemon } from "./sim-wire.ts";

/** What a shim waits for: a frame, the end of its connection, or the end of an order. */
type InboxItem = FromDaemon | "ended";

/** Keeps what comes until the shim looks. */
export class SimInbox {
  readonly #process: SimProcess;
  readonly #items: InboxItem[] = [];
  #wake: () => void = () => undefined;

  constructor(process: SimProcess) {
    this.#process = process;
  }

  put(item: InboxItem): void {
    this.#items.push(item);
    this.#wake();
  }

  clear(): void {
    this.#items.length = 0;
  }

  /** Undefined when nothing came until then. */
  async next(untilMs: number): Promise<InboxItem | undefined> {
    const waiting = this.#items.shift();
    if (waiting !== undefined) return waiting;
    await new Promise<void>((resolve) => {
      const cancel = this.#process.soon(Math.max(0, untilMs - this.#process.monotonicMs()), resolve);
      this.#wake = () => {
        cancel();
        if (this.#process.isAlive) resolve();
      };
    });
    return this.#items.shift();
  }
}
