/**
 * What the reboot gate costs the guard that people run, against real API servers: `bun test/e2e/gate/gate-memory.ts [MINUTES
 * [PROGRAM]]` (an hour of dist/levee unless told). One `dist/levee guard` has the gate, the other `--no-gate`; both lead a cluster of their own, in
 * which one node needs a reboot throughout and another one is cordoned and freed by turns. Prints the memory of both once
 * a minute. Takes an hour, so it is no test.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { freePort } from "../../lab/free-port.ts";
import { Program } from "../program.ts";
import { mergePatch, type PolicyServer } from "../policy-server.ts";
import { pause } from "../until.ts";
import { startGateCluster } from "./gate-cluster.ts";
import { StandInDaemons } from "./stand-in-daemons.ts";

const minutes = Number(process.argv[2] ?? "60");
const levee = process.argv[3] ?? join(import.meta.dir, "../../../dist/levee");
/** Verdicts change this often. */
const turnMinutes = 5;

interface Measured {
  readonly server: PolicyServer;
  readonly guard: Program;
  readonly metricsUrl: string;
}

const folder = await mkdtemp(join(tmpdir(), "levee-gate-memory-"));
using daemons = await StandInDaemons.start();
daemons.marks.set("127.0.0.1", Date.now());
const withGate = await start("with", ["--gate-door", "label"]);
const without = await start("without", ["--no-gate"]);
const both = [withGate, without];
try {
  console.log("minute\tRSS with\twithout\tanonymous with\twithout (KiB)\tlooks\tverdict");
  for (let minute = 1; minute <= minutes; minute += 1) console.log(await minuteOf(minute));
} finally {
  for (const { guard, server } of both) {
    await guard.stop("SIGKILL");
    await server.stop();
  }
  await rm(folder, { recursive: true, force: true });
}

async function minuteOf(minute: number): Promise<string> {
  const isCordoned = Math.floor(minute / turnMinutes) % 2 === 0;
  for (const { server } of both) server.must([isCordoned ? "cordon" : "uncordon", "n3"]);
  await pause(60_000);
  for (const { guard } of both) startAgain(guard);
  const [gated, plain] = [memoryOf(withGate.guard.pid), memoryOf(without.guard.pid)];
  const text = await (await fetch(withGate.metricsUrl)).text();
  const [, looks = "–"] = /^levee_gate_looks_total\S* (\d+)/mu.exec(text) ?? [];
  const [, verdict = "–"] = /^levee_gate_verdict\{node="n1",verdict="(\w+)"\} 1/mu.exec(text) ?? [];
  return [minute, gated.rss, plain.rss, gated.anonymous, plain.anonymous, looks, verdict].join("\t");
}

/** A guard that loses its lease to a slow API server ends. Its memory begins anew, so it must be said. */
function startAgain(guard: Program): void {
  if (guard.isRunning) return;
  console.log(`${guard.name} has ended:\n${guard.logTail(5)}`);
  guard.start();
}

async function start(name: string, more: readonly string[]): Promise<Measured> {
  const server = await startGateCluster(["n1", "n2", "n3"]);
  for (const node of ["n2", "n3"]) {
    const status = { addresses: [{ type: "InternalIP", address: "127.0.0.2" }] };
    await server.ask({ method: "PATCH", path: `/api/v1/nodes/${node}/status`, type: mergePatch, body: { status } });
  }
  // Longer than the run.
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=12h"]).trim();
  const metricsPort = await freePort();
  const places = ["--daemon-port", String(daemons.port), "--metrics-port", String(metricsPort)];
  const login = ["--kubeconfig", await server.kubeconfig(token), "--git-folder", join(folder, `git-${name}`)];
  const guard = new Program(folder, `guard-${name}`, {
    command: [levee, "guard", ...login, ...places, ...more],
    // As the image has it.
    env: { ...daemonEnv },
  });
  guard.start();
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  await guard.untilUp("leads", async () => /^levee_guard_leader\S* 1$/mu.test(await (await fetch(metricsUrl)).text()));
  return { server, guard, metricsUrl };
}

function memoryOf(pid: number): { readonly rss: number; readonly anonymous: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kib = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "mu").exec(text)?.[1]);
  return { rss: kib("Rss"), anonymous: kib("Anonymous") };
}
