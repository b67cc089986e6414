import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { KeptDaemon } from "./kept-daemon.ts";
import { LimitedGroup } from "./machine/limited-group.ts";
import { until } from "../../base/until.fixture.ts";

let folder = "";
let group: LimitedGroup;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "levee-kept-"));
  group = await LimitedGroup.make(systemClock, `levee-test-kept-${process.pid}`, { memoryBytes: 32 * 1024 ** 2 });
});
afterEach(async () => {
  await group.remove();
  rmSync(folder, { recursive: true });
});

function kept(script: string, backOffMs: readonly number[]): KeptDaemon {
  return new KeptDaemon({
    clock: systemClock,
    command: ["sh", "-c", script],
    env: { PATH: "/usr/bin:/bin" },
    group,
    log: join(folder, "log"),
    backOffMs,
  });
}

describe("KeptDaemon", () => {
  test("starts it again after each end, with the waits given, until stopped", async () => {
    const daemon = kept("echo life; exit 4", [20, 60_000]);
    await daemon.start();
    await until("it has ended twice", () => daemon.ends.length === 2);
    expect(daemon.ends).toEqual(["status 4", "status 4"]);
    expect(daemon.restarts).toBe(1);
    expect(readFileSync(join(folder, "log"), "utf8")).toBe("life\nlife\n");
    await daemon.stop();
  });

  test("stop asks with SIGTERM and counts no end", async () => {
    const daemon = kept("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done", [0]);
    await daemon.start();
    await until("it says ready", () => readFileSync(join(folder, "log"), "utf8").includes("ready"));
    await daemon.stop();
    expect(readFileSync(join(folder, "log"), "utf8")).toBe("ready\nbye\n");
    expect([daemon.restarts, daemon.ends.length, daemon.oomKills]).toEqual([0, 0, 0]);
  });

  test("counts the kernel's kills and comes back after them", async () => {
    const daemon = kept("x=; while :; do x=$x$(head -c 8388608 /dev/zero | tr '\\0' x); done", [10, 60_000]);
    await daemon.start();
    await until("it has ended twice", () => daemon.ends.length === 2);
    await daemon.stop();
    expect(daemon.oomKills).toBeGreaterThanOrEqual(2);
    expect(daemon.restarts).toBe(1);
  });
});
