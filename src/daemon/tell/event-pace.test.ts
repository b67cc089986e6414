import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { EventPace } from "./event-pace.ts";

/** Sends all that the pace allows for so long, while an event comes every `gapMs`. How many went. */
async function sentWhile(clock: VirtualClock, pace: EventPace, { forMs, gapMs }: { forMs: number; gapMs: number }) {
  let sent = 0;
  for (let ms = 0; ms < forMs; ms += 100) {
    if (ms % gapMs === 0) pace.came();
    while (pace.waitMs() === 0 && pace.take()) sent += 1;
    await clock.advance(100);
  }
  return sent;
}

describe("EventPace", () => {
  test("lets a burst through, then one a second while events keep coming", async () => {
    const clock = new VirtualClock();
    expect(await sentWhile(clock, new EventPace(clock), { forMs: 30_000, gapMs: 100 })).toBe(20 + 29);
  });

  test("lets five a second through once no more come", async () => {
    const clock = new VirtualClock();
    const pace = new EventPace(clock);
    await sentWhile(clock, pace, { forMs: 30_000, gapMs: 100 });
    await clock.advance(1_000);
    const sent = await sentWhile(clock, pace, { forMs: 10_000, gapMs: Infinity });
    expect(sent).toBeGreaterThanOrEqual(50);
  });

  test("is back at five a second after a minute, whatever comes", async () => {
    const clock = new VirtualClock();
    const pace = new EventPace(clock);
    await sentWhile(clock, pace, { forMs: 60_000, gapMs: 100 });
    expect(await sentWhile(clock, pace, { forMs: 10_000, gapMs: 100 })).toBeGreaterThanOrEqual(49);
  });

  test("tells the events of single pods as they come", async () => {
    const clock = new VirtualClock();
    expect(await sentWhile(clock, new EventPace(clock), { forMs: 60_000, gapMs: 3_000 })).toBeGreaterThan(60);
  });
});
