import { describe, expect, test } from "bun:test";
import { processMemory } from "./process-memory.ts";

describe("processMemory", () => {
  test("sums a process and its children, and no others", async () => {
    const parent = Bun.spawn(["sh", "-c", "sleep 30 & echo up; wait"], { stdout: "pipe" });
    await parent.stdout.getReader().read();
    const memory = processMemory(new Set([parent.pid]));
    expect(memory.processes).toBe(2);
    expect(memory.pssBytes).toBeGreaterThan(memory.anonBytes);
    expect(memory.anonBytes).toBeGreaterThan(0);
    Bun.spawnSync(["sh", "-c", `kill $(cat /proc/${parent.pid}/task/${parent.pid}/children) ${parent.pid}`]);
    await parent.exited;
    expect(processMemory(new Set([parent.pid]))).toEqual({ processes: 0, pssBytes: 0, anonBytes: 0 });
  });
});
