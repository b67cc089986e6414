import { expect, test } from "bun:test";
import { StepClock } from "./conf-dir.fixture.ts";
import { Mending } from "./mending.ts";

test("Mending waits a moment first, as a program that makes a list removes the conf before it writes the list", () => {
  const time = new StepClock();
  const mending = new Mending(time.clock);
  expect(mending.waitMs()).toBe(1_000);
  time.advance(900);
  mending.calm();
  time.advance(900);
  expect(mending.waitMs()).toBe(1_000);
  time.advance(1_000);
  expect(mending.waitMs()).toBe(0);
});

test("Mending doubles its pauses, stops after five within ten minutes, and tries again after an hour", () => {
  const time = new StepClock();
  const mending = new Mending(time.clock);
  const pauses = [1, 2, 3, 4, 5].map(() => {
    const beganMs = time.clock.monotonicMs();
    while (mending.waitMs() > 0) time.advance(mending.waitMs());
    mending.mended();
    return time.clock.monotonicMs() - beganMs;
  });
  expect(pauses).toEqual([1_000, 1_000, 2_000, 4_000, 8_000]);
  expect([mending.isContested, mending.count, mending.waitMs()]).toEqual([true, 5, 3_600_000]);
  time.advance(3_600_000);
  expect([mending.isContested, mending.count, mending.waitMs()]).toEqual([false, 0, 0]);
});

test("Mending forgets after ten minutes, so that a rare accident is always mended", () => {
  const time = new StepClock();
  const mending = new Mending(time.clock);
  for (let round = 0; round < 20; round += 1) {
    expect(mending.waitMs()).toBe(1_000);
    time.advance(1_000);
    mending.mended();
    time.advance(600_000);
  }
  expect(mending.isContested).toBe(false);
});
