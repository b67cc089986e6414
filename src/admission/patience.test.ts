import { describe, expect, test } from "bun:test";
import { settle } from "../base/virtual-clock.fixture.ts";
import { attachRequest, detachRequest, node, okRun, requestSlot, Storm } from "./admission.fixture.ts";
import type { AdmissionRequest } from "./request.ts";

function pods(count: number, facts: Partial<AdmissionRequest> = {}): readonly AdmissionRequest[] {
  return Array.from({ length: count }, (_, pod) => attachRequest({ pod: `a/${pod}`, ...facts }));
}

describe("Admission waits as long as the caller", () => {
  test("serves 900 pods at the first try, although the last one waits 40 s", async () => {
    const storm = new Storm(node(), { aloneMs: 45 });
    for (const request of pods(900, { networks: ["primary", "second"] })) void storm.pod(request);
    await storm.clock.advance(70_000);
    expect(storm.attached).toHaveLength(900);
    expect(storm.refused).toEqual([]);
    expect(storm.attached.at(-1)?.atMs).toBeWithin(35_000, 70_000);
  });

  test.each([
    // A shim with today's default, and one whose conf still has the 55 s of an earlier release.
    { leftMs: 109_000, waitsMs: 70_000 },
    { leftMs: 54_000, waitsMs: 23_000 },
    { leftMs: 20_000, waitsMs: 6_000 },
    { leftMs: 3_000, waitsMs: 0 },
  ])("leaves a call with $leftMs ms the time for its plugins", async ({ leftMs, waitsMs }) => {
    const { admission, clock } = node({ attachCeiling: 1 });
    using _held = await admission.admit(attachRequest({ pod: "first" }), new AbortController().signal);
    const asked = requestSlot(admission, attachRequest({ leftMs }));
    expect(admission.why("a/1")?.limitMs).toBe(waitsMs);
    await clock.advance(Math.max(0, waitsMs - 500));
    expect(asked.error).toBeUndefined();
    await clock.advance(500);
    expect(asked.error?.message).toContain("because all slots are taken");
  });
});

describe("Admission when a conf changes and the runtime waits for its calls", () => {
  test("lets no call in line wait more than 15 s from then, neither ADD, DEL nor the next try of a critical pod", async () => {
    const { admission, clock } = node({ attachCeiling: 1, detachCeiling: 1, delQueueMs: 50_000 });
    const held = [requestSlot(admission, attachRequest({ pod: "x" })), requestSlot(admission, detachRequest())];
    await settle();
    const asked = [
      requestSlot(admission, attachRequest({ pod: "early" })),
      requestSlot(admission, detachRequest({ pod: "early" })),
    ];
    await clock.advance(20_000);
    admission.hurry();
    // It had begun to look up its pod before.
    await clock.advance(3_000);
    asked.push(requestSlot(admission, attachRequest({ pod: "looked up" })));
    // A second change does not give them more time.
    admission.hurry();
    await clock.advance(9_000);
    asked.push(requestSlot(admission, attachRequest({ pod: "again", isRetry: true, leftMs: 90_000 })));
    await clock.advance(2_500);
    expect(asked.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
    await clock.advance(500);
    for (const { error } of asked) expect(error?.message).toContain("a CNI configuration changed");
    expect(held.every(({ permit }) => permit !== undefined)).toBe(true);
    const again = requestSlot(admission, attachRequest({ pod: "again", isRetry: true, leftMs: 90_000 }));
    await clock.advance(250);
    expect(again.error?.message).toContain("a CNI configuration changed");
  });

  test("gives them their whole time once another call begins, because then the runtime does not wait", async () => {
    const { admission, clock } = node({ attachCeiling: 1 });
    requestSlot(admission, attachRequest({ pod: "x" }));
    await settle();
    const early = requestSlot(admission, attachRequest({ pod: "early" }));
    admission.hurry();
    await clock.advance(6_000);
    const late = requestSlot(admission, attachRequest({ pod: "late" }));
    await clock.advance(63_000);
    expect([early.error, late.error]).toEqual([undefined, undefined]);
    await clock.advance(1_000);
    expect(early.error?.message).toContain("because all slots are taken");
    expect(late.error).toBeUndefined();
  });

  test("hurries no call after the first conf, by which the runtime finds the daemon", async () => {
    const { admission, clock } = node({ attachCeiling: 1 });
    admission.hurry();
    await clock.advance(100);
    requestSlot(admission, attachRequest({ pod: "x" }));
    await settle();
    const second = requestSlot(admission, attachRequest({ pod: "second" }));
    await clock.advance(69_000);
    expect(second.error).toBeUndefined();
  });

  test("goes on with the line meanwhile", async () => {
    const world = node();
    const storm = new Storm(world, { aloneMs: 50 });
    for (const request of pods(400)) void storm.pod(request);
    await world.clock.advance(1_000);
    world.admission.hurry();
    await world.clock.advance(12_000);
    expect(storm.attached).toHaveLength(400);
    expect(storm.refused).toEqual([]);
  });
});

describe("Admission tells a call early that will not be served in time", () => {
  /** One slot and calls of one second each. */
  async function busyLine(count: number) {
    const world = node({ attachCeiling: 1 });
    const storm = new Storm(world, { aloneMs: 1_000 });
    for (const request of pods(count)) void storm.pod(request);
    await world.clock.advance(5_000);
    return { ...world, storm };
  }

  test("once it is served at its next try, and says when to come back", async () => {
    const { clock, storm } = await busyLine(100);
    expect(storm.refused).toEqual([]);
    await clock.advance(50_000);
    const early = storm.refused.length;
    expect(early).toBeGreaterThan(10);
    expect(storm.refused[0]?.reason).toMatch(
      /^Cannot attach now: \d+ calls are ahead of it, which takes about [\d.]+ s at the present rate, and it may wait [\d.]+ s more; come back in [\d.]+ s or later; the runtime retries$/u,
    );
    await clock.advance(70_000);
    expect(storm.attached).toHaveLength(100);
    // 30 cannot be served within their 70 s, and hardly any of them leaves twice.
    expect(storm.refused.length).toBeWithin(30, 35);
    expect(storm.attached.at(-1)?.atMs).toBeLessThan(101_000);
  });

  test.each([[1], [2]])(
    "and sends none away that is served in time on a node whose speed changes (seed %d)",
    async (seed) => {
      const world = node({}, seed);
      const { clock } = world;
      const storm = new Storm(world, { aloneMs: 60 });
      clock.every(7_000, () => {
        storm.slowness = clock.random() < 0.5 ? 1 : 4;
      });
      for (const request of pods(1_250)) void storm.pod(request);
      await clock.advance(70_000);
      expect(storm.attached).toHaveLength(1_250);
      expect(storm.refused).toEqual([]);
    },
  );

  test("but keeps one whose turn is far away, because its comings back cost the node more than its wait", async () => {
    const { clock, storm } = await busyLine(300);
    await clock.advance(20_000);
    expect(storm.refused.length).toBeLessThan(20);
    await clock.advance(280_000);
    expect(storm.attached).toHaveLength(300);
    // Told at once, they would come back 2,268 times.
    expect(storm.refused.length).toBeLessThan(560);
  });

  test("but not while a network fails, because its recovery lets all of them go", async () => {
    const { admission, clock } = node();
    for (const pod of ["p", "q", "r"]) {
      const permit = await admission.admit(attachRequest({ pod }), new AbortController().signal);
      permit.started("primary");
      permit.ran(okRun({ result: "failed" }));
      permit.settle({ cause: "network", network: "primary", reason: "broken" });
      permit[Symbol.dispose]();
    }
    const asked = pods(50).map((request) => requestSlot(admission, request));
    await clock.advance(69_000);
    expect(asked.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  test("and never sends a DEL away before its time is over", async () => {
    const { admission, clock } = node({ detachCeiling: 1, delQueueMs: 20_000 });
    requestSlot(admission, detachRequest({ pod: "x" }));
    const asked = requestSlot(admission, detachRequest());
    await clock.advance(19_000);
    expect(asked.error).toBeUndefined();
    await clock.advance(1_000);
    expect(asked.error).toBeDefined();
  });
});

describe("Admission gives plugins more time on a slow node", () => {
  test("all that is left of the call while the cores are busy, and their usual time otherwise", () => {
    const { admission } = node();
    expect(admission.pluginsMs(100_000)).toBe(25_000);
    expect(admission.pluginsMs(30_000)).toBe(22_000);
    admission.observe({ ownMemory: undefined, pressure: { cpu: { some: 80, full: 0 } } });
    expect(admission.pluginsMs(100_000)).toBe(92_000);
    expect(admission.pluginsMs(30_000)).toBe(22_000);
    admission.observe({ ownMemory: undefined, pressure: {} });
    expect(admission.pluginsMs(100_000)).toBe(25_000);
  });

  test("also when plugins take several times their minimum, where the kernel measures no pressure", async () => {
    const { admission } = node();
    const run = async (tookMs: number): Promise<void> => {
      using permit = await admission.admit(attachRequest(), new AbortController().signal);
      permit.started("primary");
      permit.ran(okRun({ tookMs }));
      permit.settle("ok");
    };
    await run(50);
    expect(admission.pluginsMs(100_000)).toBe(25_000);
    for (let turn = 0; turn < 5; turn += 1) await run(500);
    expect(admission.pluginsMs(100_000)).toBe(92_000);
  });
});
