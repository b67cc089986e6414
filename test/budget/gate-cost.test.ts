import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { daemonEnv } from "../../src/config/daemon-env.ts";

interface Memory {
  readonly heapKib: number;
  readonly rssKib: number;
}

interface GateCost {
  readonly before: Memory;
  readonly afterDay: Memory;
  readonly afterAll: Memory;
  /** Of the most expensive look. */
  readonly cpuMs: number;
  readonly requests: number;
  readonly gates: number;
}

test("the reboot gate of 100 waiting nodes looks within a second of CPU, in a cluster of 50,000 pods", async () => {
  const { cpuMs, gates } = await cost(100, 50_000, 8, 10_000);
  console.log(`a look at 100 nodes and 50,000 pods: ${Math.round(cpuMs)} ms of CPU at most`);
  expect(gates).toBe(100);
  expect(cpuMs).toBeLessThan(1_000);
}, 120_000);

test("the reboot gate takes less than 2 MiB, and no more after a week with a node that waits throughout", async () => {
  const week = (7 * 24 * 3_600_000) / 300_000;
  const { before, afterDay, afterAll, requests } = await cost(10, 1_000, week, 300_000, 1);
  const growthKib = afterAll.heapKib - afterDay.heapKib;
  console.log(
    `a week of ${week} looks, ${requests} writes: heap ${before.heapKib} KiB without the gate, ${afterDay.heapKib} after a day, ${afterAll.heapKib} after the week; RSS ${before.rssKib}, ${afterDay.rssKib}, ${afterAll.rssKib}`,
  );
  expect(afterAll.heapKib - before.heapKib).toBeLessThan(2 * 1_024);
  expect(growthKib).toBeLessThan(256);
}, 240_000);

async function cost(...numbers: readonly number[]): Promise<GateCost> {
  const child = spawn(process.execPath, [join(import.meta.dir, "gate-cost-process.ts"), ...numbers.map(String)], {
    env: { ...process.env, ...daemonEnv },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await new Promise((resolve) => child.on("close", resolve));
  return JSON.parse(output) as GateCost; // our own program's
}
