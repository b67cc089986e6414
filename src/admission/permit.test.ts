import { expect, test } from "bun:test";
import { settle } from "../base/virtual-clock.fixture.ts";
import { requestSlot, attachRequest, detachRequest, mib, never, node, okRun } from "./admission.fixture.ts";

test("progress takes a plugin that hangs out of the count until it moves again", async () => {
  const { admission, clock, rulings } = node({ attachCeiling: 1 });
  const permit = await admission.admit(attachRequest({ pod: "a/0" }), never);
  const second = requestSlot(admission, attachRequest({ pod: "a/1" }));
  for (let run = 0; run < 5; run += 1) permit.ran(okRun({ tookMs: 300 }));
  permit.started("primary");
  await clock.advance(1_400);
  permit.progress(1_400);
  await settle();
  // Five times the median are 1.5 s.
  expect(second.permit).toBeUndefined();
  await clock.advance(200);
  permit.progress(900);
  expect(admission.facts().hung).toBe(0);
  permit.progress(1_600);
  await settle();
  expect(second.permit).toBeDefined();
  expect(admission.facts()).toMatchObject({ attaching: 1, hung: 1 });
  permit.progress(0);
  expect(admission.facts()).toMatchObject({ attaching: 2, hung: 0 });
  expect(rulings.slice(-2).map(({ what }) => what)).toEqual(["admitted", "moves-again"]);
});

test("ran of a plugin that hung is no sample, and brings it back into the count", async () => {
  const { admission, clock } = node({ attachCeiling: 4 });
  const permit = await admission.admit(attachRequest(), never);
  permit.ran(okRun({ tookMs: 20 }));
  const { limit } = admission.facts();
  for (let run = 0; run < 10; run += 1) {
    permit.started("primary");
    await clock.advance(20_000);
    permit.progress(20_000);
    permit.ran(okRun({ tookMs: 20_000 }));
  }
  expect(admission.facts()).toMatchObject({ limit, attaching: 1, hung: 0 });
  permit.ran(okRun({ tookMs: 20_000, result: "timeout" }));
  permit.ran(okRun({ tookMs: 20_000, result: "timeout" }));
  expect(admission.facts().limit).toBeLessThan(limit + 1);
  expect(admission.facts().isSlowStart).toBe(false);
});

test("dispose of a permit whose plugin hangs gives back nothing twice", async () => {
  const { admission, clock } = node({ attachCeiling: 1 });
  const permit = await admission.admit(attachRequest(), never);
  permit.started("primary");
  await clock.advance(6_000);
  permit.progress(6_000);
  permit[Symbol.dispose]();
  permit[Symbol.dispose]();
  permit.progress(0);
  expect(admission.facts()).toMatchObject({ attaching: 0, hung: 0, delegateBytes: 0 });
});

test("a DEL's plugin that hangs leaves the DELs' count alone", async () => {
  const { admission, clock } = node({ detachCeiling: 1 });
  const permit = await admission.admit(detachRequest(), never);
  const next = requestSlot(admission, detachRequest({ pod: "a/2" }));
  permit.started("primary");
  await clock.advance(6_000);
  permit.progress(6_000);
  await settle();
  expect(next.permit).toBeDefined();
  permit.settle({ cause: "network", network: "primary", reason: "no" });
  expect(admission.facts()).toMatchObject({ detaching: 1, hung: 1, heldPods: 0 });
});

test("three that hang open their network, and one that ends well after all closes it again", async () => {
  const { admission, clock, rulings } = node({ attachCeiling: 8 });
  const permits = [];
  for (const pod of ["a/1", "a/2", "a/3"]) {
    const permit = await admission.admit(attachRequest({ pod, networks: ["x"] }), never);
    permit.started("x");
    await clock.advance(6_000);
    permit.progress(6_000, "vlan");
    permits.push(permit);
  }
  expect(admission.facts().openNetworks).toMatchObject([{ network: "x", failures: 3 }]);
  const waiting = requestSlot(admission, attachRequest({ pod: "a/4", networks: ["x"] }));
  const critical = requestSlot(admission, attachRequest({ pod: "k/1", namespace: "kube-system", networks: ["x"] }));
  await settle();
  expect([waiting.permit, critical.permit].map((permit) => permit !== undefined)).toEqual([false, true]);
  expect(admission.why("a/4")?.blocker).toEqual({ why: "network-hangs", network: "x", plugin: "vlan" });
  permits[0]?.ran(okRun({ network: "x", tookMs: 18_000 }));
  // Two still hang, so the network keeps to its half of the slots.
  expect(admission.why("a/4")?.blocker).toEqual({ why: "network-share", network: "x" });
  for (const permit of [permits[0], critical.permit]) permit?.[Symbol.dispose]();
  await settle();
  expect(waiting.permit).toBeDefined();
  expect(rulings.map(({ what }) => what)).toContain("network-closed");
});

test("a network that has not worked yet gives up the slot of one that sleeps, and is blamed for it later", async () => {
  const { admission, clock } = node({ attachCeiling: 8 });
  const permits = [];
  for (const pod of ["a/1", "a/2", "a/3"]) {
    const permit = await admission.admit(attachRequest({ pod, networks: ["x"] }), never);
    permit.started("x");
    await clock.advance(1_250);
    permit.progress(1_000, "dhcp");
    permits.push(permit);
  }
  expect(admission.facts()).toMatchObject({ hung: 3, attaching: 0, openNetworks: [] });
  await clock.advance(1_500);
  for (const permit of permits) permit.progress(2_500, "dhcp");
  // Only the first has run for five times the assumed usual time.
  expect(admission.isFailing("x")).toBe(false);
  await clock.advance(2_500);
  for (const permit of permits) permit.progress(5_000, "dhcp");
  const reason = "dhcp has run 5250 ms and used no CPU for 5000 ms";
  expect(admission.facts().openNetworks).toMatchObject([{ network: "x", failures: 3, reason }]);
});

test("a network whose first run slept for seconds takes that for usual", async () => {
  const { admission, clock } = node({ attachCeiling: 8 });
  const sleeps = async (): Promise<boolean> => {
    using permit = await admission.admit(attachRequest({ networks: ["x"] }), never);
    permit.started("x");
    await clock.advance(3_000);
    permit.progress(2_750);
    const hasHung = admission.facts().hung === 1;
    permit.ran(okRun({ network: "x", tookMs: 3_000 }));
    return hasHung;
  };
  expect([await sleeps(), await sleeps()]).toEqual([true, false]);
  expect(admission.usualMs("x")).toBe(3_000);
});

test("ran of a plugin that the kernel killed halves the limit and emits a ruling", async () => {
  const { admission, rulings } = node({ attachCeiling: 8 });
  const permit = await admission.admit(attachRequest(), never);
  permit.ran(okRun({ result: "failed", isOomKilled: true }));
  expect(admission.facts()).toMatchObject({ limit: 1, isSlowStart: false });
  expect(rulings.at(-1)).toMatchObject({ what: "oom-killed", detail: "primary" });
});

test("a permit that is released while its plugin hangs emits that the hang is over", async () => {
  const { admission, clock, rulings } = node();
  const permit = await admission.admit(attachRequest(), never);
  permit.started("primary");
  await clock.advance(8_000);
  permit.progress(2_000);
  permit[Symbol.dispose]();
  expect(rulings.map(({ what }) => what)).toEqual(["admitted", "hung", "moves-again"]);
  expect(admission.facts()).toMatchObject({ hung: 0, attaching: 0 });
});

test("a hung plugin of an unknown network releases most of its memory, and gets it back when it moves", async () => {
  const { admission, clock } = node({ attachCeiling: 8, attachStart: 8 });
  // The cgroup has 120 MiB free, so half of that may be used: one unknown plugin, and a small one.
  const cgroup = { limitBytes: 128 * mib, usageBytes: 56 * mib };
  using first = await admission.admit(attachRequest({ pod: "a/1" }), never);
  first.ran(okRun({ cgroup }));
  first[Symbol.dispose]();
  using hanging = await admission.admit(attachRequest({ pod: "a/2", networks: ["x"] }), never);
  const others = ["a/3", "a/4", "a/5"].map((pod) => requestSlot(admission, attachRequest({ pod })));
  await settle();
  const running = (): number => others.filter(({ permit }) => permit !== undefined).length;
  expect([running(), admission.why("a/4")?.blocker]).toEqual([1, { why: "delegate-memory" }]);
  hanging.started("x");
  await clock.advance(1_250);
  hanging.progress(1_000, "dhcp");
  await settle();
  expect([running(), admission.facts().delegateBytes]).toEqual([3, 46 * mib]);
  hanging.progress(0);
  expect(admission.facts().delegateBytes).toBe(78 * mib);
  hanging.progress(1_000, "dhcp");
  hanging[Symbol.dispose]();
  for (const { permit } of others) permit?.[Symbol.dispose]();
  expect(admission.facts().delegateBytes).toBe(0);
});

test("a plugin that hangs is ended after the usual time of all plugins, although a slow node gives them more", async () => {
  const { admission, clock } = node();
  let kills = 0;
  const hand = { killAll: () => void (kills += 1) };
  const permit = await admission.admit(attachRequest({ hand }), never);
  permit.started("primary");
  await clock.advance(26_000);
  permit.progress(0);
  expect(kills).toBe(0);
  permit.progress(2_000);
  expect(kills).toBe(1);
  const early = await admission.admit(attachRequest({ pod: "b", networks: ["x"], hand }), never);
  early.started("x");
  await clock.advance(24_000);
  early.progress(24_000);
  expect(kills).toBe(1);
});
