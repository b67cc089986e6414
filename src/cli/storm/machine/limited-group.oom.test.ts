import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { systemClock } from "../../../base/clock.ts";
import { failureOf } from "../../failure-of.fixture.ts";
import { LimitedGroup } from "./limited-group.ts";
import { until } from "../../../base/until.fixture.ts";

const mib = 1024 ** 2;
const name = `levee-test-group-${process.pid}`;
/** Takes 8 MiB of its own every step and says so, for as long as it is let. */
const glutton = "x=; while :; do x=$x$(head -c 8388608 /dev/zero | tr '\\0' x); echo ${#x}; done";

afterEach(() => LimitedGroup.existing(systemClock, name)?.remove());

describe("LimitedGroup", () => {
  test("runs a program inside from its first instruction, and sees what it uses", async () => {
    const group = await LimitedGroup.make(systemClock, name, { memoryBytes: 64 * mib, cpuMillis: 500 });
    const child = Bun.spawn([...group.inside(["sh", "-c", "cat /proc/self/cgroup; read line; exit 3"])], {
      stdin: "pipe",
      stdout: "pipe",
    });
    await until("the child is in the group", () => group.pids().includes(child.pid));
    const sample = group.sample();
    expect(sample.processes).toBeGreaterThan(0);
    expect(sample.usageBytes).toBeGreaterThan(0);
    expect(sample.peakBytes).toBeGreaterThanOrEqual(sample.usageBytes);
    await child.stdin.write("go on\n");
    await child.stdin.end();
    expect(await child.exited).toBe(3);
    expect(await new Response(child.stdout).text()).toContain(name);
    expect(group.sample().cpuMs).toBeGreaterThan(0);
  });

  test("add moves a process that runs already", async () => {
    const group = await LimitedGroup.make(systemClock, name, {});
    const child = Bun.spawn(["sleep", "30"]);
    group.add(child.pid);
    expect(readFileSync(`/proc/${child.pid}/cgroup`, "utf8")).toContain(name);
    await group.remove();
    expect(await child.exited).not.toBe(0);
  });

  test("watchOom kills the whole group when the kernel has killed one of it", async () => {
    const group = await LimitedGroup.make(systemClock, name, { memoryBytes: 32 * mib });
    const told: number[] = [];
    const cancel = group.watchOom((kills) => void told.push(kills));
    const bystander = Bun.spawn([...group.inside(["sleep", "30"])]);
    const child = Bun.spawn([...group.inside(["sh", "-c", glutton])], { stdout: "ignore", stderr: "ignore" });
    await Promise.all([child.exited, bystander.exited]);
    await until("the kill is told", () => told.length > 0);
    cancel();
    expect(bystander.signalCode).toBe("SIGKILL");
    expect(group.sample().oomKills).toBeGreaterThan(0);
    expect(group.sample().peakBytes).toBeLessThanOrEqual(32 * mib);
  });

  test("remove kills what is inside, removes every folder, and may be repeated", async () => {
    const group = await LimitedGroup.make(systemClock, name, {});
    const child = Bun.spawn([...group.inside(["sleep", "30"])]);
    await until("the program runs", () => group.pids().length > 0);
    await group.remove();
    await child.exited;
    expect(LimitedGroup.existing(systemClock, name)).toBeUndefined();
    await group.remove();
  });

  test("make refuses a name that is taken, and leaves the other's group alone", async () => {
    await LimitedGroup.make(systemClock, name, {});
    expect(await failureOf(LimitedGroup.make(systemClock, name, {}))).toMatchObject({ code: "cgroup-unusable" });
    expect(LimitedGroup.existing(systemClock, name)).toBeDefined();
  });

  test("make says what the kernel refused, and leaves nothing", async () => {
    expect(await failureOf(LimitedGroup.make(systemClock, name, { memoryBytes: -7 }))).toMatchObject({
      code: "cgroup-unusable",
      message: expect.stringContaining(name),
    });
    expect(LimitedGroup.existing(systemClock, name)).toBeUndefined();
  });
});
