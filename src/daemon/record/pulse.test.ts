import { expect, test } from "bun:test";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { Pulse } from "./pulse.ts";
import { KeptTimeline } from "./timeline.fixture.ts";

const subject = { namespace: "shop", name: "web", containerId: "c1", verb: "ADD" };

test("note passes everything on, and counts the known entries", () => {
  const kept = new KeptTimeline();
  const pulse = new Pulse(new VirtualClock(), kept);
  for (const what of ["asked", "found", "ran", "acknowledged", "asked", "failed"]) pulse.note(subject, what);
  expect(kept.notes).toHaveLength(6);
  expect(pulse.totals).toEqual({ asked: 2, attached: 1, detached: 0, failed: 1, delegates: 1 });
});

test("failures are the last ten, newest first, with the beginning of their reasons", () => {
  const pulse = new Pulse(new VirtualClock(), new KeptTimeline());
  for (let count = 0; count < 30; count += 1) pulse.note(subject, "failed", { detail: `${count} ${"x".repeat(900)}` });
  expect(pulse.failures).toHaveLength(10);
  expect(pulse.failures[0]).toMatchObject({ namespace: "shop", pod: "web", verb: "ADD" });
  expect(pulse.failures[0]?.reason).toStartWith("29 x");
  expect(pulse.failures[0]?.reason).toHaveLength(200);
});

test("plugins returns the slowest first, with failures and the largest memory; names are bounded", () => {
  const pulse = new Pulse(new VirtualClock(), new KeptTimeline());
  for (let count = 1; count <= 200; count += 1)
    pulse.note(subject, "ran", { plugin: "bridge", tookMs: count, maxRssKib: count });
  pulse.note(subject, "ran", { plugin: "macvlan", tookMs: 900, maxRssKib: 7, detail: "no master" });
  expect(pulse.plugins()).toEqual([
    { plugin: "macvlan", verb: "ADD", runs: 1, failed: 1, p50Ms: 900, p99Ms: 900, maxRssKib: 7 },
    { plugin: "bridge", verb: "ADD", runs: 200, failed: 0, p50Ms: 169, p99Ms: 200, maxRssKib: 200 },
  ]);
  for (let count = 0; count < 500; count += 1) pulse.note(subject, "ran", { plugin: `p${count}`, tookMs: 1 });
  expect(pulse.plugins()).toHaveLength(20);
});
