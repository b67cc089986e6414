import { expect, test } from "bun:test";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { GateSight } from "./gate-sight.ts";
import { allowAt } from "./gate.fixture.ts";

test("GateSight allows until the verdict expires by this node's clock", async () => {
  const clock = new VirtualClock();
  const sight = new GateSight(clock, "n1");
  expect(sight.now()).toMatchObject({ isAllowed: false, reason: expect.stringContaining("GateAbsent: ") as string });
  sight.saw(allowAt(clock.wallMs() - 20_000));
  expect(sight.now()).toEqual({
    isAllowed: true,
    reason: "the guard found no reason against a reboot",
    leftMs: 100_000,
  });
  await clock.advance(99_999);
  expect(sight.now().isAllowed).toBe(true);
  await clock.advance(1);
  expect(sight.now()).toMatchObject({
    isAllowed: false,
    leftMs: 0,
    reason: expect.stringContaining("GateStale: ") as string,
  });
});

test("GateSight counts for itself, so that a clock that runs behind keeps no verdict open", async () => {
  const clock = new VirtualClock();
  const sight = new GateSight(clock, "n1");
  const gate = allowAt(clock.wallMs() + 50_000);
  sight.saw(gate);
  expect(sight.now().leftMs).toBe(120_000);
  await clock.advance(120_000);
  sight.saw(gate);
  expect(sight.now()).toMatchObject({
    isAllowed: false,
    reason: expect.stringContaining("for as long as it may") as string,
  });
  // The guard looked again.
  sight.saw(allowAt(gate.observedAtMs + 1_000));
  expect(sight.now().isAllowed).toBe(true);
  sight.saw(allowAt(clock.wallMs() + 600_000));
  expect(sight.now()).toMatchObject({ isAllowed: false, reason: expect.stringContaining("GateAhead: ") as string });
});

test("GateSight keeps a verdict while the server is away, and drops it when the server refuses", async () => {
  const clock = new VirtualClock();
  const sight = new GateSight(clock, "n1");
  sight.saw(allowAt(clock.wallMs()));
  sight.failed("no route", false);
  expect(sight.now().isAllowed).toBe(true);
  sight.failed("forbidden", true);
  expect(sight.now()).toEqual({ isAllowed: false, reason: "GateUnreadable: forbidden", leftMs: 0 });
  sight.saw(allowAt(clock.wallMs()));
  sight.failed("no route", false);
  await clock.advance(120_000);
  expect(sight.now()).toEqual({ isAllowed: false, reason: "GateUnreadable: no route", leftMs: 0 });
});

test("GateSight names the first reason and counts the others, and says who allowed it", () => {
  const clock = new VirtualClock();
  const sight = new GateSight(clock, "n1");
  const reason = { message: "the disk is full", sinceMs: 0, object: "", remedy: "" };
  const reasons = [
    { ...reason, code: "FiringAlert" },
    { ...reason, code: "DecisionOpen" },
  ] as const;
  sight.saw(allowAt(clock.wallMs(), { verdict: "Deny", reasons }));
  expect(sight.now().reason).toBe("FiringAlert: the disk is full, and 1 more");
  sight.saw(allowAt(clock.wallMs(), { verdict: "Unknown" }));
  expect(sight.now()).toMatchObject({ isAllowed: false, reason: "the guard does not allow it, and gives no reason" });
  const override = { name: "a", by: "alice", reason: "kernel", untilMs: 0 };
  sight.saw(allowAt(clock.wallMs(), { override }));
  expect(sight.now().reason).toBe("alice allows it");
  sight.saw(allowAt(clock.wallMs(), { node: "n2" }));
  expect(sight.now().isAllowed).toBe(false);
});
