import { describe, expect, test } from "bun:test";
import { Seeded } from "./seeded.ts";
import { SimProcess } from "./sim-process.ts";
import { SimTime } from "./sim-time.ts";

const never = (): boolean => false;

describe("SimTime", () => {
  test("fires in order of time, and in the order of setting within one instant", async () => {
    const time = new SimTime();
    const seen: string[] = [];
    for (const [ms, name] of [
      [30, "c"],
      [10, "a"],
      [10, "b"],
      [40, "d"],
    ] as const)
      time.after(ms, () => seen.push(name));
    await time.run(35, never);
    expect(seen).toEqual(["a", "b", "c"]);
    expect(time.nowMs).toBe(35);
  });

  test("keeps the order of the others when most are cancelled, also late or twice", async () => {
    const time = new SimTime();
    const seen: number[] = [];
    const cancels = Array.from({ length: 1_000 }, (_, at) => time.after((at * 7) % 100, () => seen.push(at)));
    await time.run(20, never);
    const early = seen.length;
    for (const again of [1, 2]) cancels.forEach((cancel, at) => at % (5 * again) > 0 && cancel());
    time.after(1, () => seen.push(-1));
    await time.run(100, never);
    const left = cancels.map((_, at) => at).filter((at) => at % 5 === 0 && at % 10 === 0 && (at * 7) % 100 > 20);
    const inOrder = left.toSorted((one, other) => ((one * 7) % 100) - ((other * 7) % 100) || one - other);
    expect(seen.slice(early)).toEqual([-1, ...inOrder]);
  });

  test("waits for every promise before it goes on", async () => {
    const time = new SimTime();
    const seen: string[] = [];
    time.after(1, () => void deep(50).then(() => seen.push("promises")));
    time.after(1, () => seen.push("next"));
    await time.run(2, never);
    expect(seen).toEqual(["promises", "next"]);
  });

  test("goes on alike where the event loop turns seldom", async () => {
    for (const stepsPerTurn of [1, 3, 1_000]) {
      const time = new SimTime(undefined, stepsPerTurn);
      const seen: string[] = [];
      let turns = 0;
      setImmediate(() => (turns += 1));
      for (const at of [1, 2, 3, 4]) time.after(at, () => void deep(50).then(() => seen.push(`${at} ${turns}`)));
      await time.run(3, never);
      expect(seen).toEqual(["1 1", "2 1", "3 1"]);
    }
  });

  test("a cancelled thing and one in an infinite time never happen", async () => {
    const time = new SimTime();
    const seen: string[] = [];
    time.after(1, () => seen.push("cancelled"))();
    time.after(Number.POSITIVE_INFINITY, () => seen.push("infinite"));
    await time.run(1_000_000, never);
    expect(seen).toEqual([]);
  });
});

describe("SimProcess", () => {
  test("does nothing once it is killed", async () => {
    const time = new SimTime();
    const process = new SimProcess(time, new Seeded(1));
    const seen: string[] = [];
    process.every(10, () => seen.push("tick"));
    void process.sleep(25).then(() => seen.push("slept"));
    time.after(15, () => process.kill());
    await time.run(100, never);
    expect(seen).toEqual(["tick"]);
  });

  test("a timer takes at least a millisecond, as a real one", async () => {
    const time = new SimTime();
    const process = new SimProcess(time, new Seeded(1));
    let firedMs = 0;
    process.after(1e-12, () => (firedMs = time.nowMs));
    await time.run(10, never);
    expect(firedMs).toBe(1);
  });
});

/** Resolves after so many turns of promises. */
async function deep(turns: number): Promise<void> {
  if (turns > 0) await deep(turns - 1);
}
