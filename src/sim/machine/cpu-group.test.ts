import { describe, expect, test } from "bun:test";
import { SimTime } from "../time/sim-time.ts";
import { CpuGroup } from "./cpu-group.ts";
import { defaultModel } from "./default-model.ts";
import { SimCores } from "./sim-cores.ts";
import { mibBytes, SimMachine } from "./sim-machine.ts";

const never = (): boolean => false;

describe("CpuGroup", () => {
  test("counts what its threads have had, and nothing of others on the same cores", async () => {
    const time = new SimTime();
    const cores = new SimCores(time, 1);
    const group = new CpuGroup(cores);
    group.run(100, () => undefined);
    cores.run(1_000, () => undefined);
    await time.run(50, never);
    expect(group.usedMs).toBe(25);
    await time.run(1_000, never);
    expect(group.usedMs).toBe(100);
  });

  test("of a thread that is cancelled it counts what that had until then, once", async () => {
    const time = new SimTime();
    const group = new CpuGroup(new SimCores(time, 1));
    const cancel = group.run(1_000, () => undefined);
    time.after(20, cancel);
    time.after(30, cancel);
    await time.run(500, never);
    expect(group.usedMs).toBe(20);
  });

  test("Multus uses no more CPU than its limit allows, however much its plugins want", async () => {
    const time = new SimTime();
    const limits = { limitBytes: 50 * mibBytes, cpuMillis: 100 };
    const machine = new SimMachine(time, { model: defaultModel, limits, kind: "multus" });
    machine.daemonStarts();
    const nothing = (): void => undefined;
    const course = { already: 0, factor: 1_000, share: 0.5, act: nothing, rest: nothing, finish: nothing };
    machine.runPlugin(course);
    machine.runPlugin(course);
    await time.run(1_000, never);
    expect(machine.daemonCpuMs).toBeCloseTo(100, 3);
  });
});
