import { describe, expect, test } from "bun:test";
import { settle } from "../base/virtual-clock.fixture.ts";
import { requestSlot, attachRequest, node, okRun } from "./admission.fixture.ts";
import { ExpectedPods } from "./expected-pods.ts";

const critical = 2_000_001_000;

/** Expectations on a node on which as many ADDs went just now as make a storm. */
function inStorm(atMs = 0): ExpectedPods {
  const expected = new ExpectedPods(3);
  for (let count = 0; count < 3; count += 1) expected.granted(atMs, false);
  return expected;
}

describe("ExpectedPods", () => {
  test("holds no pod while no critical pod is expected, or few pods start", () => {
    expect(inStorm().holdsOthers(0)).toBe(false);
    const calm = new ExpectedPods(3);
    calm.granted(0, false);
    calm.granted(0, false);
    calm.expect("a", 0);
    expect(calm.holdsOthers(0)).toBe(false);
    const over = inStorm();
    over.expect("a", 6_000);
    expect(over.holdsOthers(6_000)).toBe(false);
  });

  test("holds the others until the pod runs", () => {
    const expected = inStorm();
    expected.expect("a", 0);
    expected.expect("b", 0);
    expect(expected.holdsOthers(0)).toBe(true);
    expected.forget("a");
    expect(expected.holdsOthers(1_000)).toBe(true);
    expected.forget("b");
    expect(expected.holdsOthers(1_001)).toBe(false);
  });

  test("leaves the runtime two seconds after the ADD", () => {
    const expected = inStorm();
    expected.expect("a", 0);
    expect(expected.holdsOthers(0)).toBe(true);
    expected.attached("a", 3_000);
    expected.attached("stranger", 3_000);
    expect(expected.holdsOthers(4_999)).toBe(true);
    expect(expected.holdsOthers(5_000)).toBe(false);
  });

  test("lets the others go after eight seconds, and for twice as long as it held them", () => {
    const expected = inStorm();
    const holdsAt = (ms: number): boolean => {
      for (let count = 0; count < 3; count += 1) expected.granted(ms, false);
      expected.expect(`pod ${ms}`, ms);
      return expected.holdsOthers(ms);
    };
    const heldMs = Array.from({ length: 96 }, (_, index) => index * 500).filter(holdsAt);
    expect(heldMs.length * 500).toBeLessThanOrEqual(48_000 / 3 + 500);
    expect(heldMs).toContain(7_500);
    expect(heldMs).not.toContain(8_000);
    expect(heldMs).not.toContain(23_500);
    expect(heldMs).toContain(24_000);
  });

  test("lets two of the others go for each look that finds free cores, and then holds them for 20 s", () => {
    const expected = inStorm();
    expected.observed(false);
    expected.expect("a", 0);
    expect(expected.holdsOthers(0)).toBe(true);
    expected.observed(true);
    expect(expected.holdsOthers(250)).toBe(false);
    expected.granted(250, true);
    expected.granted(250, false);
    expect(expected.holdsOthers(250)).toBe(false);
    expected.granted(250, false);
    expect(expected.holdsOthers(250)).toBe(true);
    expected.observed(true);
    expected.observed(false);
    expect(expected.holdsOthers(500)).toBe(true);
    expect(expected.holdsOthers(19_999)).toBe(true);
    expect(expected.holdsOthers(20_000)).toBe(false);
  });

  test("rests no longer than it held, even if no request saw the end", () => {
    const expected = inStorm();
    expected.expect("a", 0);
    expect(expected.holdsOthers(0)).toBe(true);
    expect(expected.holdsOthers(100_000)).toBe(false);
    for (let count = 0; count < 3; count += 1) expected.granted(116_000, false);
    expected.expect("b", 116_000);
    expect(expected.holdsOthers(116_000)).toBe(true);
  });
});

describe("Admission", () => {
  test("expect keeps ordinary ADDs in line for a critical pod that has not come yet, and lets it through", async () => {
    const { admission, clock } = node({ attachCeiling: 2, attachStart: 2 });
    const first = [1, 2].map((index) => requestSlot(admission, attachRequest({ pod: `a/${index}` })));
    await settle();
    admission.expect("vital", critical);
    admission.expect("not so vital", 1_000);
    const waiting = requestSlot(admission, attachRequest({ pod: "a/3" }));
    for (const { permit } of first) permit?.[Symbol.dispose]();
    await settle();
    expect(admission.why("a/3")).toMatchObject({ blocker: { why: "critical-expected" } });
    const vital = requestSlot(admission, attachRequest({ pod: "vital", namespace: "b", priority: critical }));
    await settle();
    vital.permit?.ran(okRun());
    vital.permit?.settle("ok");
    vital.permit?.[Symbol.dispose]();
    await settle();
    expect(vital.permit).toBeDefined();
    expect(waiting.permit).toBeUndefined();
    await clock.advance(2_500);
    expect(waiting.permit).toBeDefined();
  });

  test("observe lets others go while they are held, as long as no process waits for a core", async () => {
    const { admission, clock } = node({ attachCeiling: 4, attachStart: 4 });
    const first = [1, 2, 3, 4].map((index) => requestSlot(admission, attachRequest({ pod: `a/${index}` })));
    await settle();
    for (const { permit } of first) permit?.[Symbol.dispose]();
    const look = async (waitedMs: number): Promise<void> => {
      await clock.advance(250);
      admission.observe({ ownMemory: undefined, pressure: {}, coresWaitedMs: waitedMs });
      await settle();
    };
    await look(0);
    admission.expect("vital", critical);
    const others = Array.from({ length: 4 }, (_, index) =>
      requestSlot(admission, attachRequest({ pod: `b/${index}` })),
    );
    const gone = (): number => others.filter(({ permit }) => permit !== undefined).length;
    await look(240);
    expect([gone(), admission.isHolding]).toEqual([0, true]);
    await look(250);
    expect([gone(), admission.isHolding]).toEqual([2, true]);
    await look(450);
    expect(gone()).toBe(2);
    await look(460);
    expect(gone()).toBe(4);
  });

  test("unexpect lets the others go at once; a critical pod that never comes holds them for eight seconds", async () => {
    const { admission, clock } = node({ attachCeiling: 1, attachStart: 1 });
    const first = requestSlot(admission, attachRequest({ pod: "a/1" }));
    await settle();
    first.permit?.[Symbol.dispose]();
    admission.expect("vital", critical);
    const second = requestSlot(admission, attachRequest({ pod: "a/2" }));
    await settle();
    expect(second.permit).toBeUndefined();
    admission.unexpect("vital");
    await settle();
    expect(second.permit).toBeDefined();
    second.permit?.[Symbol.dispose]();
    await clock.advance(10_000);
    const third = requestSlot(admission, attachRequest({ pod: "a/3" }));
    await settle();
    third.permit?.[Symbol.dispose]();
    admission.expect("never", critical);
    const fourth = requestSlot(admission, attachRequest({ pod: "a/4" }));
    await clock.advance(7_500);
    expect(fourth.permit).toBeUndefined();
    await clock.advance(1_000);
    expect(fourth.permit).toBeDefined();
  });
});
