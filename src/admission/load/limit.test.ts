import { expect, test } from "bun:test";
import { AdaptiveLimit } from "./limit.ts";

/** As for ADDs. */
function limitOf(ceiling: number, start: number): AdaptiveLimit {
  return new AdaptiveLimit({ ceiling, start, floor: 1, busyShare: 1 / 2, strangersShare: 1, growsWhenQuiet: false });
}

/** Runs as many as the limit allows on so many cores, so long. */
function load(limit: AdaptiveLimit, cores: number, runs: number): void {
  for (let run = 0; run < runs; run += 1) {
    const together = limit.slots;
    limit.sample(30 * Math.max(1, together / cores), 30, together);
  }
}

test("sample doubles the limit each round after a start, until it costs", () => {
  const limit = limitOf(32, 2);
  expect([limit.slots, limit.isSlowStart]).toEqual([2, true]);
  load(limit, 32, 2);
  expect(limit.slots).toBe(4);
  load(limit, 32, 4);
  expect(limit.slots).toBe(8);
  load(limit, 32, 100);
  expect([limit.slots, limit.isSlowStart]).toEqual([32, true]);
  load(limit, 2, 20);
  expect(limit.isSlowStart).toBe(false);
});

test("full doubles the limit each second in which nothing ends, as long as it is a start", () => {
  const limit = limitOf(8, 2);
  const slots = Array.from({ length: 12 }, () => {
    limit.full();
    return limit.slots;
  });
  expect(slots).toEqual([2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8]);
  load(limit, 1, 50);
  const { slots: learned } = limit;
  for (let look = 0; look < 12; look += 1) limit.full();
  expect(limit.slots).toBe(learned);
  const frozen = limitOf(8, 2);
  frozen.freeze(true);
  for (let look = 0; look < 12; look += 1) frozen.full();
  expect(frozen.slots).toBe(2);
});

test("sample settles a little above the number of cores and follows when there are fewer or more", () => {
  const limit = limitOf(32, 2);
  load(limit, 2, 500);
  expect(limit.slots).toBeWithin(4, 7);
  load(limit, 8, 500);
  expect(limit.slots).toBeWithin(16, 20);
  load(limit, 1, 500);
  expect(limit.slots).toBeWithin(2, 4);
});

test("sample takes plugins that compute longer than they once did for no sign of load", () => {
  const limit = limitOf(32, 2);
  load(limit, 2, 500);
  for (let run = 0; run < 500; run += 1) {
    const together = limit.slots;
    limit.sample(120 * Math.max(1, together / 2), 30, together, 120);
  }
  expect(limit.slots).toBeWithin(4, 7);
  // They need more time all the same.
  expect(limit.isSlow).toBe(true);
});

test("sample takes times below the scheduler's noise for no sign of load", () => {
  const limit = limitOf(8, 2);
  for (let run = 0; run < 50; run += 1) limit.sample(9, 1, limit.slots);
  expect(limit.slots).toBe(8);
});

test("sample does not raise an unused limit", () => {
  const limit = limitOf(32, 2);
  for (let run = 0; run < 100; run += 1) limit.sample(30, 30, 1);
  expect(limit.slots).toBe(3);
});

test("freeze keeps the limit from growing, not from shrinking", () => {
  const limit = limitOf(8, 2);
  limit.freeze(true);
  load(limit, 8, 50);
  expect(limit.slots).toBe(2);
  limit.freeze(false);
  load(limit, 8, 50);
  expect(limit.slots).toBe(8);
  limit.freeze(true);
  load(limit, 1, 100);
  expect(limit.slots).toBeLessThan(4);
});

test("pressed shrinks the limit to 1 while it is severe, and stops the growth before", () => {
  const limit = limitOf(8, 2);
  limit.pressed("high");
  load(limit, 8, 50);
  expect(limit.slots).toBe(2);
  limit.pressed("busy");
  load(limit, 8, 50);
  expect(limit.slots).toBe(4);
  limit.pressed("calm");
  load(limit, 8, 50);
  expect(limit.slots).toBe(8);
  for (let look = 0; look < 10; look += 1) limit.pressed("severe");
  expect(limit.slots).toBe(1);
  load(limit, 8, 50);
  expect(limit.slots).toBe(1);
});

test("sample on busy cores comes back to half of the ceiling however long runs take", () => {
  const limit = limitOf(8, 2);
  load(limit, 1, 50);
  for (let run = 0; run < 50; run += 1) limit.sample(300, 30, limit.slots);
  expect(limit.slots).toBe(2);
  limit.pressed("busy");
  for (let run = 0; run < 50; run += 1) limit.sample(300, 30, limit.slots);
  expect(limit.slots).toBe(4);
  limit.pressed("calm");
  for (let run = 0; run < 50; run += 1) limit.sample(300, 30, limit.slots);
  expect(limit.slots).toBe(2);
});

test("sample lets all slots run on cores that others keep busy, and half on cores that our own runs do", () => {
  const limit = limitOf(8, 2);
  limit.pressed("busy");
  for (let run = 0; run < 50; run += 1) limit.sample(1_000, 30, limit.slots, 42);
  expect(limit.slots).toBe(8);
  for (let run = 0; run < 50; run += 1) limit.sample(300, 30, limit.slots, 75);
  // From above it stops at the half and the one that is tried beyond.
  expect(limit.slots).toBe(5);
  limit.pressed("high");
  for (let run = 0; run < 50; run += 1) limit.sample(1_000, 30, limit.slots, 42);
  expect(limit.slots).toBeLessThan(5);
});

test("killed halves the limit, down to 1", () => {
  const limit = limitOf(8, 2);
  load(limit, 8, 50);
  limit.killed();
  expect(limit.slots).toBe(4);
  for (let kill = 0; kill < 10; kill += 1) limit.killed();
  expect(limit.slots).toBe(1);
});

test("slots never exceeds a ceiling of 1", () => {
  const limit = limitOf(1, 2);
  load(limit, 8, 50);
  expect(limit.slots).toBe(1);
});
