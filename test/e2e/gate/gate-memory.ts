/**
 * What the reboot gate costs the guard that people run, against real API servers: `bun test/e2e/gate/gate-memory.ts [MINUTES
 * [PROGRAM]]` (an hour of dist/levee unless told). One guard has the gate, the other `--no-gate`; both lead a cluster of
 * their own, in which one node needs a reboot throughout and another one is cordoned and freed by turns. Prints the memory
 * of both once a minute. Takes an hour, so it is no test; gate-memory.test.ts is the short one.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "../program.ts";
import { pause } from "../until.ts";
import { MeasuredGuard, startMeasuredCluster } from "./measured-guard.ts";
import { StandInDaemons } from "./stand-in-daemons.ts";

const [minutes = "60", program] = process.argv.slice(2);
/** Verdicts change this often. */
const turnMinutes = 5;

const folder = await mkdtemp(join(tmpdir(), "levee-gate-memory-"));
using daemons = await StandInDaemons.start();
daemons.marks.set("127.0.0.1", Date.now());
const gated = await start("with", ["--gate-door", "label"]);
const plain = await start("without", ["--no-gate"]);
try {
  console.log("minute\tRSS with\twithout\tanonymous with\twithout (KiB)\tlooks\tverdict");
  for (let minute = 1; minute <= Number(minutes); minute += 1) console.log(await minuteOf(minute));
} finally {
  for (const guard of [gated, plain]) {
    await guard.program.stop("SIGKILL");
    await guard.server.stop();
  }
  await rm(folder, { recursive: true, force: true });
}

async function start(name: string, more: readonly string[]): Promise<MeasuredGuard> {
  const server = await startMeasuredCluster();
  return MeasuredGuard.start({ name, server, folder, daemonPort: daemons.port, more, program });
}

async function minuteOf(minute: number): Promise<string> {
  const isCordoned = Math.floor(minute / turnMinutes) % 2 === 0;
  for (const { server } of [gated, plain]) server.must([isCordoned ? "cordon" : "uncordon", "n3"]);
  await pause(60_000);
  for (const guard of [gated, plain]) startAgain(guard.program);
  const [one, other] = [gated.memory(), plain.memory()];
  const looks = await gated.metric("levee_gate_looks_total");
  const isAllowed = (await gated.metric('levee_gate_verdict{node="n1",verdict="Allow"}')) === "1";
  const figures = [one.rssKib, other.rssKib, one.anonymousKib, other.anonymousKib];
  return [minute, ...figures, looks, isAllowed ? "Allow" : "Deny"].join("\t");
}

/** A guard that loses its lease to a slow API server ends. Its memory begins anew, so it must be said. */
function startAgain(guard: Program): void {
  if (guard.isRunning) return;
  console.log(`${guard.name} has ended:\n${guard.logTail(5)}`);
  guard.start();
}
