import { describe, expect, test } from "bun:test";
import { systemClock, type Cancel, type Clock } from "../../base/clock.ts";
import type { ConsoleChange, ConsoleSnapshot } from "../../wire/console-view.ts";
import { openConsole } from "./console-server.fixture.ts";
import { Refused } from "./refusal.ts";

/** A clock whose timers go off when the test says so. */
class HandClock {
  readonly timers = new Map<() => void, number>();
  readonly clock: Clock = {
    ...systemClock,
    every: (ms, callback): Cancel => {
      this.timers.set(callback, ms);
      return () => this.timers.delete(callback);
    },
  };

  ring(ms: number): void {
    for (const [callback, every] of [...this.timers]) if (every === ms) callback();
  }
}

/** Reads a stream event by event. */
class Reader {
  readonly #reader;
  #text = "";

  constructor(answer: Response) {
    if (answer.body === null) throw new Error("no body");
    this.#reader = answer.body.getReader();
  }

  /** The next block, or undefined at the end of the stream. */
  async next(): Promise<{ event: string; id: string; data: unknown } | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        if (block.startsWith(":")) return { event: "comment", id: "", data: block };
        const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "mu").exec(block)?.[1] ?? "";
        return { event: field("event"), id: field("id"), data: JSON.parse(field("data")) };
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += Buffer.from(value as Uint8Array).toString("utf8");
    }
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

const tick = 500;
const heartbeat = 15_000;
const review = 10_000;

describe("TabStreams", () => {
  test("sends a whole snapshot, then only what changed, with the revision as id", async () => {
    const hand = new HandClock();
    await using open = await openConsole({ clock: hand.clock, nodes: 50 });
    const reader = new Reader(await fetch(`${open.url}events`));
    const first = await reader.next();
    expect(first?.event).toBe("snapshot");
    const snapshot = first?.data as ConsoleSnapshot;
    expect(snapshot.nodes.length).toBe(50);
    expect(snapshot.viewer.name).toBe("alice");
    expect(String(snapshot.revision)).toBe(first?.id ?? "");

    hand.ring(tick);
    const [one, ...rest] = open.desk.cells;
    open.desk.cells = [{ ...one!, adds: 7, state: "busy" }, ...rest.slice(1)];
    open.desk.nowMs += 700;
    open.desk.points.push({ atMs: open.desk.nowMs, waiting: 7, attached: 1, done: 0 });
    hand.ring(tick);
    const second = await reader.next();
    const change = second?.data as ConsoleChange;
    expect(second?.event).toBe("change");
    expect(change.revision).toBe(snapshot.revision + 1);
    expect(change.nodes).toMatchObject({ changed: [{ name: "k8s-node1", adds: 7 }], gone: ["k8s-node2"] });
    expect(change.storm?.points).toEqual([{ atMs: open.desk.nowMs, waiting: 7, attached: 1, done: 0 }]);
    expect(change.decisions).toBeUndefined();
    expect(change.networks).toBeUndefined();
  });

  test("says now and then that its facts are fresh, and is silent in between", async () => {
    const hand = new HandClock();
    await using open = await openConsole({ clock: hand.clock });
    const reader = new Reader(await fetch(`${open.url}events`));
    await reader.next();
    open.desk.nowMs += 4_000;
    hand.ring(tick);
    open.desk.nowMs += 1_000;
    hand.ring(tick);
    const change = (await reader.next())?.data as ConsoleChange;
    expect(change.asOfMs).toBe(open.desk.nowMs);
    expect(Object.keys(change).toSorted()).toEqual(["asOfMs", "revision", "sources"]);
  });

  test("keeps a quiet stream alive with a comment every 15 s", async () => {
    const hand = new HandClock();
    await using open = await openConsole({ clock: hand.clock });
    const reader = new Reader(await fetch(`${open.url}events`));
    await reader.next();
    hand.ring(heartbeat);
    expect(await reader.next()).toMatchObject({ event: "comment", data: ": alive" });
  });

  test("gives a second tab the same revisions, and computes nothing when all are gone", async () => {
    const hand = new HandClock();
    await using open = await openConsole({ clock: hand.clock });
    const readers = [new Reader(await fetch(`${open.url}events`)), new Reader(await fetch(`${open.url}events`))];
    const ids = await Promise.all(readers.map(async (reader) => (await reader.next())?.id));
    expect(ids[0]).toBe(ids[1]);
    expect(open.server.tabs).toBe(2);
    for (const reader of readers) await reader.cancel();
    for (let tries = 0; tries < 100 && open.server.tabs > 0; tries += 1) await Bun.sleep(10);
    expect(open.server.tabs).toBe(0);
    expect(hand.timers.size).toBe(0);
  });

  test("ends the stream of a viewer whose token expired, once and in words", async () => {
    const hand = new HandClock();
    await using open = await openConsole({ clock: hand.clock });
    const reader = new Reader(await fetch(`${open.url}events`));
    await reader.next();
    open.viewers.refusal = new Refused("review-failed");
    hand.ring(review);
    await Bun.sleep(5);
    open.viewers.refusal = new Refused("sign-in-needed");
    hand.ring(review);
    expect(await reader.next()).toMatchObject({ event: "end", data: { code: "sign-in-needed" } });
    expect(await reader.next()).toBeUndefined();
    expect((await fetch(`${open.url}events`)).status).toBe(401);
  });

  test("refuses more tabs than it can serve", async () => {
    await using open = await openConsole();
    const answers = await Promise.all(Array.from({ length: 65 }, () => fetch(`${open.url}events`)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(64);
    expect(answers.filter(({ status }) => status === 503).length).toBe(1);
    for (const answer of answers) await answer.body?.cancel();
  });

  test("tells its tabs that the console ended", async () => {
    const open = await openConsole();
    const reader = new Reader(await fetch(`${open.url}events`));
    await reader.next();
    await open.server.close();
    expect(await reader.next()).toMatchObject({ event: "end", data: { code: "console-ended" } });
  });
});
