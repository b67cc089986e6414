import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import { daemonEnv } from "../../src/config/daemon-env.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import { callFields } from "../hostile/call-frame.ts";
import { Lab, leveeProgram } from "../lab/lab.ts";
import { RawPeer } from "../skew/raw-peer.ts";

type Env = Readonly<Record<string, string>>;

/** Enough calls for the JIT to compile what runs often; it takes some MiB for that. */
const calls = 600;
/** One reading says little: it depends on when the collector ran last. */
const rounds = 3;
/** Two daemons that run alike differ by less; one with the JIT on has about 13 MiB more. */
const differenceKibMax = 4_096;

test(`A daemon started without engine settings takes the memory of one with them after ${calls} calls`, async () => {
  // From here, so that neither daemon has to read the program from the disk.
  execFileSync("cat", [leveeProgram], { stdio: "ignore" });
  const seen = { withThem: [] as number[], without: [] as number[], withJit: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    seen.withThem.push(await memoryKib(daemonEnv));
    seen.without.push(await memoryKib({}));
    seen.withJit.push(await memoryKib({ ...daemonEnv, BUN_JSC_useJIT: "1" }));
  }
  const withThem = median(seen.withThem);
  const without = median(seen.without);
  const withJit = median(seen.withJit);
  console.log(`anonymous memory: ${withThem} KiB with the settings, ${without} without, ${withJit} with the JIT on`);
  expect(Math.abs(without - withThem)).toBeLessThan(differenceKibMax);
  // Shows that the bound tells the two apart, and that a variable overrides.
  expect(withJit - withThem).toBeGreaterThan(differenceKibMax);
}, 120_000);

test("A daemon that starts itself again keeps its PID, its arguments and its environment", async () => {
  await using lab = await Lab.make();
  const { pid } = await lab.startDaemon({ LEVEE_TEST_MARK: "kept", BUN_GC_TIMER_DISABLE: "0" });
  const environ = wordsOf(`/proc/${pid}/environ`);
  expect(environ).toContain("LEVEE_TEST_MARK=kept");
  expect(environ).toContain("BUN_JSC_useJIT=0");
  expect(environ).toContain("BUN_GC_TIMER_DISABLE=0");
  expect(wordsOf(`/proc/${pid}/cmdline`)).toEqual([leveeProgram, "daemon", "--config", lab.path("daemon-config.json")]);
  expect(lab.daemonLog).not.toContain('"level":"warn"');
});

async function memoryKib(env: Env): Promise<number> {
  await using lab = await Lab.make();
  const daemon = await lab.startDaemon(env);
  for (let round = 0; round < calls; round += 1) await deleteUnknown(lab, `unknown${round}`);
  const status = readFileSync(`/proc/${daemon.pid}/status`, "utf8");
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function deleteUnknown(lab: Lab, containerId: string): Promise<void> {
  const peer = await RawPeer.connect(lab.socketDir);
  peer.send(encodeFrame("CALL", callFields({ verb: "DEL", container_id: containerId, cni_args: lab.podArgs("p") })));
  await peer.next();
  await peer.next();
  peer.cut();
}

function wordsOf(file: string): readonly string[] {
  return readFileSync(file, "utf8").split("\0").slice(0, -1);
}
