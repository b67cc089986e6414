/** What the reboot gate costs the compiled guard, on a real API server. test/budget/gate-cost.test.ts has the week. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MeasuredGuard, startMeasuredCluster, type GuardMemory } from "./gate/measured-guard.ts";
import { StandInDaemons } from "./gate/stand-in-daemons.ts";
import { needsServer } from "./needs-server.ts";
import type { PolicyServer } from "./policy-server.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("gate-memory");
/** Five looks of the gate. After that memory moves by some hundred KiB in an hour (docs/measurements.md, 0035). */
const runMs = 50_000;

let server: PolicyServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-gate-memory-"));
  server = await startMeasuredCluster();
}, 120_000);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function memoryWith(name: string, daemons: StandInDaemons, more: readonly string[]): Promise<GuardMemory> {
  const guard = await MeasuredGuard.start({ name, server, folder, daemonPort: daemons.port, more });
  try {
    if (name === "gate")
      await until("the gate of n1 is there", async () => await guard.metric("levee_gate_verdict{"), {
        timeoutMs: 60_000,
      });
    await pause(runMs);
    return guard.memory();
  } finally {
    // It gives its lease back, so that the next one need not wait.
    await guard.program.stop("SIGTERM");
  }
}

group("the guard's memory", () => {
  test("is less than 2 MiB more with the reboot gate and a node that waits", async () => {
    using daemons = await StandInDaemons.start();
    daemons.marks.set("127.0.0.1", Date.now());
    const plain = await memoryWith("plain", daemons, ["--no-gate"]);
    const gated = await memoryWith("gate", daemons, ["--gate-door", "label"]);
    console.log(
      `RSS ${gated.rssKib} KiB with the gate, ${plain.rssKib} without; anonymous ${gated.anonymousKib}, ${plain.anonymousKib}`,
    );
    expect(gated.rssKib - plain.rssKib).toBeLessThan(2_048);
    expect(gated.anonymousKib - plain.anonymousKib).toBeLessThan(2_048);
  }, 300_000);
});
