import type { ConsoleChange, ConsoleProblem, ConsoleSnapshot, StreamEnd } from "../../src/wire/console-view.ts";
import type { PageClock } from "../base/clock.ts";
import { applyChange } from "./apply-change.ts";
import { backOffMs } from "./back-off.ts";
import { problemFrom, Refusal } from "./server.ts";
import { StreamParser, type StreamEvent } from "./sse-parser.ts";

/** The server sends a comment every 15 s; after three of them the line is dead, whatever the browser thinks. */
const silenceMsMax = 45_000;

/** How the page is connected. `ended`: it asks nothing more until the viewer signs in or opens the page again. */
export type Link =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "away"; readonly problem: ConsoleProblem; readonly retryInMs: number }
  | { readonly state: "ended"; readonly problem: ConsoleProblem };

interface FollowNeeds {
  readonly clock: PageClock;
  events(signal: AbortSignal): Promise<ReadableStream<string>>;
  onSnapshot(snapshot: ConsoleSnapshot): void;
  onLink(link: Link): void;
  /** Something was heard: a change or a heartbeat. */
  onHeard(): void;
}

/** Follows the server's stream: one at a time, opened again with back-off, never again after a 401. */
export class Follower {
  readonly #needs: FollowNeeds;
  #snapshot: ConsoleSnapshot | undefined;
  #abort: AbortController | undefined;
  #isStopped = true;
  #failures = 0;
  #wake: (() => void) | undefined;
  #heardMs = 0;

  constructor(needs: FollowNeeds) {
    this.#needs = needs;
  }

  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#failures = 0;
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  /** When the tab is shown again: a browser may have cut the stream in the background without a word. */
  check(): void {
    if (this.#isStopped) return;
    this.#wake?.();
    if (this.#isSilent()) this.#abort?.abort();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#needs.onLink({ state: "connecting" });
      const problem = await this.#followOnce();
      if (this.#isStopped) return;
      if (problem.isFinal) {
        this.#isStopped = true;
        this.#needs.onLink({ state: "ended", problem: problem.problem });
        return;
      }
      await this.#waitForRetry(problem.problem);
    }
  }

  async #followOnce(): Promise<{ readonly problem: ConsoleProblem; readonly isFinal: boolean }> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#heardMs = this.#needs.clock.monotonicMs();
    const stopWatch = this.#watchSilence(abort);
    try {
      const ended = await this.#read(await this.#needs.events(abort.signal));
      return (
        ended ?? {
          problem: { code: "stream-ended", message: "The server ended the stream", remedy: "" },
          isFinal: false,
        }
      );
    } catch (thrown) {
      return { problem: problemFrom(thrown), isFinal: thrown instanceof Refusal && thrown.status === 401 };
    } finally {
      stopWatch();
      abort.abort();
    }
  }

  async #read(stream: ReadableStream<string>): Promise<{ problem: ConsoleProblem; isFinal: boolean } | undefined> {
    const parser = new StreamParser();
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      this.#hear();
      for (const event of parser.push(value)) {
        if (event.event === "end") return endOf(event);
        this.#take(event);
      }
    }
  }

  #take({ event, data }: StreamEvent): void {
    if (event === "snapshot") {
      this.#snapshot = JSON.parse(data) as ConsoleSnapshot; // src/wire/console-view.ts
      this.#failures = 0;
      this.#needs.onLink({ state: "live" });
    } else if (event === "change" && this.#snapshot !== undefined) {
      this.#snapshot = applyChange(this.#snapshot, JSON.parse(data) as ConsoleChange); // as above
    } else {
      return;
    }
    this.#needs.onSnapshot(this.#snapshot);
  }

  #hear(): void {
    this.#heardMs = this.#needs.clock.monotonicMs();
    this.#needs.onHeard();
  }

  #isSilent(): boolean {
    return this.#needs.clock.monotonicMs() - this.#heardMs >= silenceMsMax;
  }

  #watchSilence(abort: AbortController): () => void {
    let cancel: () => void;
    const look = (): void => {
      if (this.#isSilent()) abort.abort(new Error("nothing was heard for 45 s"));
      else cancel = this.#needs.clock.after(5_000, look);
    };
    cancel = this.#needs.clock.after(5_000, look);
    return () => cancel();
  }

  async #waitForRetry(problem: ConsoleProblem): Promise<void> {
    const retryInMs = backOffMs(this.#failures, this.#needs.clock.random());
    this.#failures += 1;
    this.#needs.onLink({ state: "away", problem, retryInMs });
    await new Promise<void>((resolve) => {
      const cancel = this.#needs.clock.after(retryInMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

function endOf({ data }: StreamEvent): { problem: ConsoleProblem; isFinal: boolean } {
  const problem = JSON.parse(data) as StreamEnd; // src/wire/console-view.ts
  return { problem, isFinal: problem.code === "sign-in-needed" };
}
