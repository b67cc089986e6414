import { describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { failureOf } from "../failure-of.fixture.ts";
import { FakeScreen } from "../fake-shell.fixture.ts";
import { withProgress } from "./progress.ts";

/** Timers fire when the test moves the time. */
class HandClock {
  nowMs = 0;
  readonly #timers = new Set<{ atMs: number; everyMs: number | undefined; callback: () => void }>();

  get clock(): Clock {
    return {
      ...systemClock,
      monotonicMs: () => this.nowMs,
      after: (ms, callback) => this.#add({ atMs: this.nowMs + ms, everyMs: undefined, callback }),
      every: (ms, callback) => this.#add({ atMs: this.nowMs + ms, everyMs: ms, callback }),
    };
  }

  get pending(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    for (;;) {
      const next = [...this.#timers]
        .filter(({ atMs }) => atMs <= endMs)
        .toSorted((left, right) => left.atMs - right.atMs)[0];
      if (next === undefined) break;
      this.nowMs = next.atMs;
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.atMs += next.everyMs;
      next.callback();
    }
    this.nowMs = endMs;
  }

  #add(timer: { atMs: number; everyMs: number | undefined; callback: () => void }): () => void {
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
}

/** Runs work that lasts `ms` and returns what was shown. */
async function shown(isTerminal: boolean, ms: number): Promise<{ text: string; pending: number }> {
  const hand = new HandClock();
  const stderr = new FakeScreen(isTerminal);
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = withProgress({ clock: hand.clock, stderr }, "Waiting for the daemon", () => promise);
  hand.advance(ms);
  resolve("done");
  expect(await running).toBe("done");
  return { text: stderr.text, pending: hand.pending };
}

describe("withProgress", () => {
  test("says nothing within two seconds", async () => {
    expect(await shown(true, 1999)).toEqual({ text: "", pending: 0 });
    expect(await shown(false, 1999)).toEqual({ text: "", pending: 0 });
  });

  test("prints plain lines into a log: after two seconds, then every ten", async () => {
    const { text, pending } = await shown(false, 23_000);
    expect(text).toBe("Waiting for the daemon (2 s)\nWaiting for the daemon (12 s)\nWaiting for the daemon (22 s)\n");
    expect(pending).toBe(0);
  });

  test("spins on a terminal and clears its line at the end", async () => {
    const { text, pending } = await shown(true, 2500);
    expect(text).toContain("\r\u001b[K- Waiting for the daemon (2 s)");
    expect(text).toContain("\\ Waiting");
    expect(text).toEndWith("\r\u001b[K");
    expect(text).not.toContain("\n");
    expect(pending).toBe(0);
  });

  test("stops and passes the error on when the work fails", async () => {
    const hand = new HandClock();
    const stderr = new FakeScreen(false);
    const failing = withProgress({ clock: hand.clock, stderr }, "x", () => Promise.reject(new Error("broken")));
    expect(await failureOf(failing)).toHaveProperty("message", expect.stringContaining("broken"));
    expect(hand.pending).toBe(0);
  });
});
