import { describe, expect, test } from "bun:test";
import { SpareTime } from "./spare-time.ts";
import { VirtualClock } from "./virtual-clock.fixture.ts";

/** Spare time that the test switches on and off, with a list of the jobs done. */
class Day {
  readonly clock = new VirtualClock();
  readonly spare = new SpareTime(this.clock);
  readonly done: number[] = [];
  isBusy = false;

  constructor() {
    this.spare.watch(() => this.isBusy);
  }

  ask(count: number): void {
    for (let index = 0; index < count; index += 1) this.spare.do(() => this.done.push(index), `job ${index}`);
  }
}

describe("SpareTime", () => {
  test("does a job at once when no call waits", () => {
    const day = new Day();
    day.ask(2);
    expect(day.done).toEqual([0, 1]);
  });

  test("puts off a job for later even when no call waits", async () => {
    const day = new Day();
    day.spare.later(() => day.done.push(7));
    expect(day.done).toEqual([]);
    await day.clock.advance(50);
    expect(day.done).toEqual([7]);
  });

  test("keeps jobs while a call waits, then does a few at a time, in order", async () => {
    const day = new Day();
    day.isBusy = true;
    day.ask(10);
    await day.clock.advance(5_000);
    expect(day.done).toEqual([]);
    day.isBusy = false;
    await day.clock.advance(50);
    expect(day.done).toEqual([0, 1]);
    day.spare.do(() => day.done.push(10));
    await day.clock.advance(250);
    expect(day.done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("does them after half a minute though a call still waits", async () => {
    const day = new Day();
    day.isBusy = true;
    day.ask(2);
    await day.clock.advance(29_000);
    expect(day.done).toEqual([]);
    await day.clock.advance(1_100);
    expect(day.done).toEqual([0, 1]);
  });

  test("keeps at most a thousand jobs, then does the oldest", () => {
    const day = new Day();
    day.isBusy = true;
    day.ask(1_002);
    expect(day.done).toEqual([0, 1]);
  });

  test("drops a job by its key, and finish does the other jobs that have one", async () => {
    const day = new Day();
    day.isBusy = true;
    day.ask(7);
    day.spare.do(() => day.done.push(99));
    day.spare.drop("job 3");
    day.spare.finish();
    expect(day.done).toEqual([0, 1, 2, 4, 5, 6]);
    await day.clock.advance(60_000);
    expect(day.done).toHaveLength(6);
  });
});
