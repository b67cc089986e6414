import { expect, test } from "bun:test";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { NetworkBreaker } from "./network-breaker.ts";

test("failed opens a network at the third failure in a row of different pods, not for one pod's own trouble", () => {
  const breaker = new NetworkBreaker(new VirtualClock());
  for (let failure = 0; failure < 10; failure += 1) expect(breaker.failed("x", "a/1", "no")).toBe(false);
  expect(breaker.failed("x", "a/2", "no")).toBe(true);
  expect([breaker.isOpen("x"), breaker.isOpen("y")]).toEqual([true, false]);
  expect([breaker.failed("y", "a/1", "no"), breaker.failed("y", "a/2", "no")]).toEqual([false, false]);
  breaker.succeeded("y");
  expect([breaker.failed("y", "a/1", "no"), breaker.failed("y", "a/2", "no")]).toEqual([false, false]);
  expect(breaker.failed("y", "a/2", "no")).toBe(true);
});

test("admits one probe each five seconds while a network is open, and every request after the first success", async () => {
  const clock = new VirtualClock();
  const breaker = new NetworkBreaker(clock);
  for (const pod of ["a/1", "a/2", "a/3"]) breaker.failed("x", pod, "it is broken");
  expect(breaker.admits("x")).toBe(false);
  await clock.advance(5_000);
  expect(breaker.admits("x")).toBe(true);
  breaker.tried("x");
  expect(breaker.admits("x")).toBe(false);
  expect(breaker.open()).toEqual([
    { network: "x", sinceMs: 0, failures: 3, reason: "it is broken", nextProbeMs: 10_000 },
  ]);
  expect([breaker.succeeded("x"), breaker.admits("x"), breaker.succeeded("x")]).toEqual([true, true, false]);
});

test("failed remembers 256 networks at most", () => {
  const breaker = new NetworkBreaker(new VirtualClock());
  for (let network = 0; network < 300; network += 1) {
    for (const pod of ["a/1", "a/2", "a/3"]) breaker.failed(`n${network}`, pod, "no");
  }
  expect(breaker.open()).toHaveLength(256);
});
