import { describe, expect, test } from "bun:test";
import { SimTime } from "../time/sim-time.ts";
import { DaemonCpu } from "./daemon-cpu.ts";
import { defaultModel } from "./default-model.ts";
import { SimCores } from "./sim-cores.ts";
import { mibBytes, SimMachine } from "./sim-machine.ts";

const never = (): boolean => false;

/** When each of these threads was done, all begun at once. */
async function endsOf(cores: number, cpuMs: readonly number[]): Promise<readonly number[]> {
  const time = new SimTime();
  const shared = new SimCores(time, cores);
  const ends: number[] = cpuMs.map(() => Number.NaN);
  cpuMs.forEach((ms, at) => shared.run(ms, () => (ends[at] = time.nowMs)));
  await time.run(10_000, never);
  return ends;
}

describe("SimCores", () => {
  test("a thread has a core of its own as long as there are enough", async () => {
    expect(await endsOf(2, [30, 50])).toEqual([30, 50]);
  });

  test("more threads than cores share them evenly, and the rest is faster when some have ended", async () => {
    // Four on two cores run at half speed until the first two end at 20; then two have a core each.
    expect(await endsOf(2, [10, 10, 30, 30])).toEqual([20, 20, 40, 40]);
  });

  test("tells how much was used and how long somebody waited, as the kernel does", async () => {
    const time = new SimTime();
    const cores = new SimCores(time, 1);
    cores.run(100, () => undefined);
    cores.run(100, () => undefined);
    await time.run(300, never);
    expect([cores.usedMs, cores.waitedMs]).toEqual([200, 200]);
    expect(cores.stall).toBeWithin(1, 3);
  });

  test("a cancelled thread gives its part to the others", async () => {
    const time = new SimTime();
    const cores = new SimCores(time, 1);
    let endMs = 0;
    const cancel = cores.run(1_000, () => undefined);
    cores.run(30, () => (endMs = time.nowMs));
    time.after(20, cancel);
    await time.run(100, never);
    expect(endMs).toBe(40);
  });
});

describe("DaemonCpu", () => {
  test("works off what comes in order, and stands still when its share of a period is used up", async () => {
    const time = new SimTime();
    const cpu = new DaemonCpu({ time, cores: new SimCores(time, 2), cpuMillis: 100 });
    const ends: number[] = [];
    for (const ms of [4, 4, 4, 20]) cpu.run(ms, () => ends.push(time.nowMs));
    await time.run(1_000, never);
    // 10 ms of each 100: the third one ends in the second period, the fourth in the fourth.
    expect(ends).toEqual([4, 8, 102, 302]);
    expect(cpu.usedMs).toBe(32);
  });

  test("what its other threads use is missing in the next periods, and the first thread does not wait for it before", async () => {
    const time = new SimTime();
    const cpu = new DaemonCpu({ time, cores: new SimCores(time, 2), cpuMillis: 100 });
    const doneMs: number[] = [];
    const note = (): unknown => doneMs.push(time.nowMs);
    cpu.run(5, note);
    cpu.aside(25);
    cpu.run(1, note);
    await time.run(1_000, never);
    // Together they are the share of three periods.
    expect(doneMs).toEqual([5, 301]);
    expect(cpu.usedMs).toBe(31);
  });

  test("an ended process does nothing any more", async () => {
    const time = new SimTime();
    const cpu = new DaemonCpu({ time, cores: new SimCores(time, 2), cpuMillis: undefined });
    let isDone = false;
    cpu.run(50, () => (isDone = true));
    time.after(10, () => cpu.end());
    await time.run(1_000, never);
    expect(isDone).toBe(false);
  });
});

describe("SimMachine", () => {
  const limits = { limitBytes: 50 * mibBytes, cpuMillis: undefined };

  test("a daemon has its base and something for each call; text and other files fill the rest of the limit", () => {
    const machine = new SimMachine(new SimTime(), { model: defaultModel, limits });
    expect([machine.anonBytes, machine.isOutOfMemory]).toEqual([0, false]);
    machine.daemonStarts();
    machine.calls = 1_000;
    const { baseMib, callKib } = defaultModel.daemon;
    expect(machine.anonBytes).toBe(baseMib * mibBytes + 1_000 * callKib * 1_024);
    expect(machine.usageBytes).toBe(limits.limitBytes);
    machine.daemonEnds();
    expect([machine.anonBytes, machine.calls]).toEqual([0, 0]);
  });

  test("without room for a page the kernel kills; with little room for text everything is slower", () => {
    const machine = new SimMachine(new SimTime(), { model: defaultModel, limits });
    machine.daemonStarts();
    expect([machine.slowness, machine.isOutOfMemory]).toEqual([1, false]);
    machine.calls = ((50 - defaultModel.daemon.baseMib - 6) * 1_024) / defaultModel.daemon.callKib;
    expect(machine.slowness).toBeGreaterThan(2);
    expect(machine.isOutOfMemory).toBe(false);
    machine.calls *= 2;
    expect(machine.isOutOfMemory).toBe(true);
  });

  test("plugins of Multus are in its cgroup; those of Levee are not", () => {
    const course = {
      already: 0,
      factor: 1,
      share: 0.5,
      act: () => undefined,
      rest: () => undefined,
      finish: () => undefined,
    };
    const grown = (kind: "levee" | "multus"): number => {
      const machine = new SimMachine(new SimTime(), { model: defaultModel, limits, kind });
      machine.daemonStarts();
      const before = machine.anonBytes;
      for (let run = 0; run < 10; run += 1) machine.runPlugin(course);
      return (machine.anonBytes - before) / mibBytes;
    };
    expect(grown("levee")).toBe(0);
    expect(grown("multus")).toBeCloseTo(10 * defaultModel.multus.pluginMib);
  });
});
