import { expect, test } from "bun:test";
import { VirtualClock } from "../base/virtual-clock.fixture.ts";
import { forgetStart } from "./forget-start.ts";

function started(): { clock: VirtualClock; calls: { count: number }; seen: () => number; stop: () => void } {
  const clock = new VirtualClock();
  const calls = { count: 0 };
  let times = 0;
  const service = forgetStart({ clock, calls, shrink: () => void (times += 1) });
  return { clock, calls, seen: () => times, stop: () => void service.stop() };
}

test("the memory of the start is given back once", async () => {
  const { clock, seen } = started();
  await clock.advance(9_999);
  expect(seen()).toBe(0);
  await clock.advance(60_000);
  expect(seen()).toBe(1);
});

test("a storm right after the start is not held up: it waits for a moment without calls", async () => {
  const { clock, calls, seen } = started();
  calls.count = 219;
  await clock.advance(45_000);
  expect(seen()).toBe(0);
  calls.count = 0;
  await clock.advance(10_000);
  expect(seen()).toBe(1);
});

test("a daemon that ends gives nothing back", async () => {
  const { clock, seen, stop } = started();
  stop();
  await clock.advance(60_000);
  expect(seen()).toBe(0);
});

test("the engine knows how", async () => {
  const clock = new VirtualClock();
  forgetStart({ clock, calls: { count: 0 } });
  await clock.advance(10_000);
});
