import { describe, expect, test } from "bun:test";
import type { PageClock } from "../base/clock.ts";
import { outageSnapshot } from "../snapshot.fixture.ts";
import { Follower, type Link } from "./follow.ts";
import { Refusal } from "./server.ts";

/** Time goes on only when a test says so. */
class HandClock implements PageClock {
  #nowMs = 0;
  readonly #timers = new Map<() => void, number>();

  wallMs = (): number => this.#nowMs;
  monotonicMs = (): number => this.#nowMs;
  random = (): number => 1;

  after(ms: number, call: () => void): () => void {
    this.#timers.set(call, this.#nowMs + ms);
    return () => this.#timers.delete(call);
  }

  async pass(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (const [call, atMs] of [...this.#timers]) {
      if (atMs > this.#nowMs) continue;
      this.#timers.delete(call);
      call();
    }
    await settled();
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** A stream that a test writes to; it ends with an error when it is aborted. */
class HandStream {
  readonly stream: ReadableStream<string>;
  #controller: ReadableStreamDefaultController<string> | undefined;

  constructor(signal: AbortSignal) {
    this.stream = new ReadableStream<string>({ start: (controller) => void (this.#controller = controller) });
    signal.addEventListener("abort", () => {
      try {
        this.#controller?.error(signal.reason);
      } catch {
        // It has ended by itself.
      }
    });
  }

  async send(event: string, data: unknown): Promise<void> {
    this.#controller?.enqueue(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    await settled();
  }

  async end(): Promise<void> {
    this.#controller?.close();
    await settled();
  }
}

function following(answer: (attempt: number) => Error | undefined = () => undefined) {
  const clock = new HandClock();
  const streams: HandStream[] = [];
  const links: Link[] = [];
  const revisions: number[] = [];
  const counts = { attempts: 0, heard: 0 };
  const follower = new Follower({
    clock,
    events: (signal) => {
      counts.attempts += 1;
      const error = answer(counts.attempts);
      if (error !== undefined) return Promise.reject(error);
      const stream = new HandStream(signal);
      streams.push(stream);
      return Promise.resolve(stream.stream);
    },
    onSnapshot: ({ revision }) => revisions.push(revision),
    onLink: (link) => links.push(link),
    onHeard: () => void (counts.heard += 1),
  });
  return { clock, streams, links, revisions, counts, follower };
}

const snapshot = outageSnapshot(1_800_000_000_000);

describe("Follower", () => {
  test("takes a snapshot, then changes, and says that it is live", async () => {
    const { follower, streams, links, revisions } = following();
    follower.start();
    await settled();
    await streams[0]?.send("snapshot", snapshot);
    await streams[0]?.send("change", { revision: 2, asOfMs: snapshot.asOfMs });
    expect(revisions).toEqual([1, 2]);
    expect(links.map(({ state }) => state)).toEqual(["connecting", "live"]);
    follower.stop();
  });

  test("opens the stream again, later each time, and at once again after a snapshot", async () => {
    const { follower, clock, streams, links, counts } = following((attempt) =>
      attempt <= 3 ? new TypeError("connection refused") : undefined,
    );
    follower.start();
    await settled();
    const waits: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const last = links.at(-1);
      waits.push(last?.state === "away" ? last.retryInMs : -1);
      await clock.pass(30_000);
    }
    expect(waits).toEqual([500, 1_000, 2_000]);
    await streams[0]?.send("snapshot", snapshot);
    await streams[0]?.end();
    expect(links.at(-1)).toMatchObject({ state: "away", retryInMs: 500 });
    expect(counts.attempts).toBe(4);
    follower.stop();
  });

  test("asks nothing more after a 401, until it is started again", async () => {
    const problem = { code: "sign-in-needed", message: "The token has expired", remedy: "" };
    const { follower, clock, links, counts } = following(() => new Refusal(401, problem));
    follower.start();
    await settled();
    for (let turn = 0; turn < 5; turn += 1) await clock.pass(60_000);
    follower.check();
    await settled();
    expect(counts.attempts).toBe(1);
    expect(links.at(-1)).toEqual({ state: "ended", problem });
    follower.start();
    await settled();
    expect(counts.attempts).toBe(2);
  });

  test("stops when the server ends the stream for want of a sign-in, and comes back from any other end", async () => {
    const { follower, clock, streams, links, counts } = following();
    follower.start();
    await settled();
    await streams[0]?.send("end", { code: "too-many-tabs", message: "", remedy: "" });
    expect(links.at(-1)?.state).toBe("away");
    await clock.pass(30_000);
    await streams[1]?.send("end", { code: "sign-in-needed", message: "", remedy: "" });
    await clock.pass(60_000);
    expect(links.at(-1)?.state).toBe("ended");
    expect(counts.attempts).toBe(2);
  });

  test("gives up a stream that is silent, and looks at it when the tab is shown again", async () => {
    const { follower, clock, streams, counts } = following();
    follower.start();
    await settled();
    await streams[0]?.send("snapshot", snapshot);
    await clock.pass(30_000);
    follower.check();
    await settled();
    expect(counts.attempts).toBe(1);
    await clock.pass(20_000);
    await clock.pass(5_000);
    await clock.pass(1_000);
    expect(counts.attempts).toBe(2);
    follower.stop();
  });

  test("a shown tab does not wait for the back-off", async () => {
    const { follower, links, counts } = following((attempt) => (attempt === 1 ? new TypeError("refused") : undefined));
    follower.start();
    await settled();
    expect(links.at(-1)?.state).toBe("away");
    follower.check();
    await settled();
    expect(counts.attempts).toBe(2);
    follower.stop();
  });
});
