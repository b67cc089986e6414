import { describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { leakBackoffMs, LeakLedger, leakOf, unknownLeak } from "./leak-ledger.ts";
import { aChain, aRecord, json } from "./record.fixture.ts";

const facts = { pod: undefined, netns: { path: "", identity: undefined }, cniPath: "", bootId: "", reason: "lost" };
const clock = { ...systemClock, wallMs: () => 1_000_000, random: () => 0 };

describe("leakBackoffMs", () => {
  test("doubles from half a minute to an hour", () => {
    const seconds = Array.from({ length: 10 }, (_, attempts) => leakBackoffMs(attempts, 0) / 1_000);
    expect(seconds).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
    expect(leakBackoffMs(1e9, 0)).toBe(3_600_000);
  });

  test("spreads by at most a fifth", () => {
    expect(leakBackoffMs(0, 0.999)).toBeGreaterThanOrEqual(24_000);
    expect(leakBackoffMs(0, 0.5)).toBe(27_000);
  });
});

describe("leakOf", () => {
  test("takes the chains still to undo with their results", () => {
    const chains = [aChain(), aChain({ confName: "dmz" }), aChain({ confName: "wan" })];
    const record = aRecord(1, { chains, results: [json("1"), json("2"), json("3")] });
    const leak = leakOf(record, [2, 1], "busy", clock);
    expect(leak.chains.map(({ confName }) => confName)).toEqual(["wan", "dmz"]);
    expect(leak.results).toEqual([json("3"), json("2")]);
    expect(leak).toMatchObject({ reason: "busy", attempts: 0, sinceWallMs: 1_000_000, nextTryWallMs: 1_030_000 });
    expect(leak.id).toMatch(/^[0-9a-f]{16}$/);
  });

  test("keeps chains and results in step when a position does not exist", () => {
    const leak = leakOf(aRecord(1), [0, 7], "busy", clock);
    expect(leak.chains).toHaveLength(1);
    expect(leak.results).toHaveLength(1);
  });
});

describe("LeakLedger", () => {
  test("gives up the oldest notice before anything that can still be retried, and counts it", () => {
    const ledger = new LeakLedger(3);
    const actionable = leakOf(aRecord(1), [0], "busy", clock);
    const notices = [2, 3].map((number) => unknownLeak(aRecord(number), facts, clock));
    ledger.add(actionable);
    for (const notice of notices) ledger.add(notice);
    expect(ledger.add(leakOf(aRecord(4), [0], "busy", clock))?.id).toBe(notices[0]!.id);
    expect(ledger.add(leakOf(aRecord(5), [0], "busy", clock))?.id).toBe(notices[1]!.id);
    expect(ledger.add(leakOf(aRecord(6), [0], "busy", clock))?.id).toBe(actionable.id);
    expect(ledger.dropped).toBe(3);
    expect(ledger.size).toBe(3);
  });

  test("an entry written twice is one entry", () => {
    const ledger = new LeakLedger(1);
    const leak = leakOf(aRecord(1), [0], "busy", clock);
    ledger.add(leak);
    expect(ledger.add({ ...leak, reason: "again" })).toBeUndefined();
    expect(ledger.all()).toMatchObject([{ reason: "again" }]);
    expect(ledger.dropped).toBe(0);
  });

  test("finds by container and interface, forgets the resolved, ignores the unknown", () => {
    const ledger = new LeakLedger();
    const record = aRecord(1);
    const leak = unknownLeak({ containerId: record.containerId, ifname: record.ifname }, facts, clock);
    ledger.add(leak);
    expect(ledger.find(record)).toEqual(leak);
    expect(ledger.find(aRecord(2))).toBeUndefined();
    ledger.retried(leak.id, { reason: "x", attempts: 4, nextTryWallMs: 5, hasTimedOut: true, repeats: 0 });
    ledger.retried("nobody", { reason: "x", attempts: 4, nextTryWallMs: 5, hasTimedOut: true, repeats: 0 });
    expect(ledger.get(leak.id)).toMatchObject({ attempts: 4 });
    ledger.resolve(leak.id);
    ledger.resolve("nobody");
    expect(ledger.all()).toEqual([]);
  });
});
