import { expect, test } from "bun:test";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { RetryBudget, type FailureCause } from "./retry-budget.ts";

const w = (): string => "what it wants";
const failure = (cause: FailureCause, network?: string) => ({
  cause,
  reason: "no",
  ...(network === undefined ? {} : { network }),
});

test.each([
  ["own", [10, 20, 40, 80, 160, 300, 300]],
  ["other", [0, 20, 40, 60, 60, 60, 60]],
  ["network", [0, 20, 40, 60, 60, 60, 60]],
] as const)("failed holds a pod longer each time, jittered down to half (%s)", (cause, seconds) => {
  const clock = new VirtualClock();
  const budget = new RetryBudget(clock, 300_000);
  for (const second of seconds) {
    const { untilMs } = budget.failed("a/1", w, failure(cause));
    expect(untilMs - clock.monotonicMs()).toBeWithin(second * 500, second * 1_000 + 1);
  }
});

test("held ends with time, with success and with a change of what the pod wants", async () => {
  const clock = new VirtualClock();
  const budget = new RetryBudget(clock, 300_000);
  budget.failed("a/1", w, failure("own"));
  expect(budget.held("a/1", w)?.failures).toBe(1);
  expect([budget.held("a/1", () => "changed"), budget.held("a/1", w)]).toEqual([undefined, undefined]);
  budget.failed("a/1", w, failure("own"));
  budget.succeeded("a/1");
  expect(budget.held("a/1", w)).toBeUndefined();
  budget.failed("a/1", w, failure("own"));
  await clock.advance(10_000);
  expect(budget.held("a/1", w)).toBeUndefined();
  expect(budget.failed("a/1", w, failure("own")).failures).toBe(2);
  await clock.advance(600_000);
  expect(budget.failed("a/1", w, failure("own")).failures).toBe(1);
});

test("isOver counts three failures in a row of the pod's, not of a network's", () => {
  const budget = new RetryBudget(new VirtualClock(), 300_000);
  for (let count = 0; count < 3; count += 1) {
    expect(budget.isOver("a/1", w)).toBe(false);
    budget.failed("a/1", w, failure("other"));
    budget.failed("a/2", w, failure("network", "x"));
  }
  expect([budget.isOver("a/1", w), budget.isOver("a/1", () => "v"), budget.isOver("a/2", w)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("networkRecovered ends the holds of pods that failed because of that network", () => {
  const budget = new RetryBudget(new VirtualClock(), 300_000);
  for (let count = 0; count < 2; count += 1) {
    budget.failed("a/1", w, failure("network", "x"));
    budget.failed("a/2", w, failure("network", "y"));
    budget.failed("a/3", w, failure("own", "x"));
  }
  expect(budget.heldCount).toBe(3);
  budget.networkRecovered("x");
  expect(["a/1", "a/2", "a/3"].map((pod) => budget.held(pod, w) !== undefined)).toEqual([false, true, true]);
});

test("failed keeps 1,024 pods and the first 200 characters of a reason", () => {
  const budget = new RetryBudget(new VirtualClock(), 300_000);
  for (let pod = 0; pod < 2_000; pod += 1) budget.failed(`a/${pod}`, w, { cause: "own", reason: "x".repeat(5_000) });
  expect(budget.heldCount).toBe(1_024);
  expect(budget.held("a/1999", w)?.failure.reason).toHaveLength(200);
});

test("RetryBudget holds no longer than its maximum, and holds no pod when that is 0", () => {
  const clock = new VirtualClock();
  const short = new RetryBudget(clock, 4_000);
  const none = new RetryBudget(clock, 0);
  for (const budget of [short, none]) budget.failed("p", () => "", { cause: "own", reason: "no" });
  expect(short.held("p", () => "")?.untilMs).toBeWithin(2_000, 4_001);
  expect(none.held("p", () => "")).toBeUndefined();
});

test("holds names the pods that are held now, those that failed last first", async () => {
  const clock = new VirtualClock();
  const budget = new RetryBudget(clock, 300_000);
  for (const pod of ["a/1", "a/2", "a/3"]) budget.failed(pod, w, failure("own", "lan"));
  expect(budget.holds(2).map(({ pod, failures, failure: { network } }) => [pod, failures, network])).toEqual([
    ["a/3", 1, "lan"],
    ["a/2", 1, "lan"],
  ]);
  expect(budget.holds(1)[0]?.nextTryMs).toBeWithin(5_000, 10_001);
  await clock.advance(10_000);
  expect(budget.holds(2)).toEqual([]);
});
