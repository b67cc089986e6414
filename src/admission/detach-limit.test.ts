import { expect, test } from "bun:test";
import { detachRequest, mib, never, node, okRun, requestSlot, type Node } from "./admission.fixture.ts";

/** Makes so many DELs at once and returns when each began, in ms. A plugin takes as long as `tookMs` says. */
async function drain({ admission, clock }: Node, count: number, tookMs: (together: number) => number) {
  const beganMs: number[] = [];
  let running = 0;
  let most = 0;
  const one = async (pod: string): Promise<void> => {
    using permit = await admission.admit(detachRequest({ pod }), never);
    beganMs.push(clock.monotonicMs());
    running += 1;
    most = Math.max(most, running);
    permit.started("primary");
    const ms = tookMs(running);
    await clock.sleep(ms);
    running -= 1;
    permit.ran(okRun({ tookMs: ms }));
  };
  const all = Promise.all(Array.from({ length: count }, (_, index) => one(`a/${index}`)));
  await clock.advance(60_000);
  await all;
  return { beganMs, most };
}

test("DELs whose plugins only wait get more slots each second, and a full node is empty in time", async () => {
  const { beganMs, most } = await drain(node(), 110, () => 8_000);
  expect(most).toBe(32);
  expect(Math.max(...beganMs)).toBeLessThan(36_000);
});

test("a drain long after the start gets more slots each second, too", async () => {
  const old = node();
  await drain(old, 3, () => 40);
  // An overload ends the start.
  await drain(old, 40, (together) => 40 * together);
  await drain(old, 40, (together) => (together > 4 ? 400 : 40));
  for (let round = 0; round < 30; round += 1) await drain(old, 1, () => 40);
  const startedMs = old.clock.monotonicMs();
  const { beganMs } = await drain(old, 32, () => 8_000);
  expect(Math.max(...beganMs) - startedMs).toBeLessThan(5_000);
});

test("DELs that slow each other down keep to few slots", async () => {
  const quick = node();
  // What they take alone is known.
  await drain(quick, 3, () => 40);
  const { most } = await drain(quick, 110, (together) => 40 * together);
  expect(most).toBeWithin(4, 13);
});

test("on cores that other programs keep busy, DELs whose plugins sleep get up to half of the ceiling", async () => {
  const { admission, clock } = node();
  admission.observe({ ownMemory: undefined, pressure: { cpu: { some: 90, full: 0 } } });
  const asked = Array.from({ length: 60 }, (_, index) => requestSlot(admission, detachRequest({ pod: `a/${index}` })));
  let began = 0;
  for (let second = 0; second < 14; second += 1) {
    for (const { permit } of asked.filter((one) => one.permit !== undefined).slice(began)) {
      permit?.started("primary");
      began += 1;
    }
    await clock.advance(1_250);
    for (const { permit } of asked) permit?.progress(1_000);
  }
  expect(admission.facts().detachLimit).toBe(16);
  expect(began).toBe(60);
});

test("four DELs run under any load", async () => {
  const { admission } = node();
  admission.observe({ ownMemory: undefined, pressure: { memory: { some: 90, full: 50 } } });
  const asked = Array.from({ length: 6 }, (_, index) => requestSlot(admission, detachRequest({ pod: `a/${index}` })));
  await Promise.resolve();
  await Promise.resolve();
  expect(asked.filter(({ permit }) => permit !== undefined)).toHaveLength(4);
  expect(admission.facts()).toMatchObject({ detaching: 4, detachLimit: 4, detachCeiling: 32 });
});

test("beyond four, DELs wait for memory in the runtime's cgroup", async () => {
  const { admission, clock } = node();
  const cgroup = { limitBytes: 200 * mib, usageBytes: 100 * mib };
  const first = await admission.admit(detachRequest({ pod: "a/0" }), never);
  first.ran(okRun({ peakBytes: 10 * mib, cgroup }));
  first[Symbol.dispose]();
  const asked = Array.from({ length: 12 }, (_, index) => requestSlot(admission, detachRequest({ pod: `a/${index}` })));
  await clock.advance(10_000);
  expect(admission.facts().detachLimit).toBeGreaterThan(5);
  // Half of the free memory holds seven plugins of 10 MiB.
  expect(asked.filter(({ permit }) => permit !== undefined)).toHaveLength(7);
});
