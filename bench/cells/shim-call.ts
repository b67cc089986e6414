import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { barChart } from "../bar-chart.ts";
import { round, type Cell, type Verdict } from "../cell.ts";
import { timedCells, timedHeader, timedRow, type TimedRow } from "../timed-row.ts";
import { multus } from "../../test/peers/multus.ts";

const runs = 200;
const title = "One CNI call with nothing behind it";
const multusVersion = "v4.3.0";

interface Contender {
  readonly label: string;
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

/** One CNI call with nothing behind it: the cost of starting the shim and talking to a daemon. */
export async function shimCall(): Promise<Cell> {
  const folder = await mkdtemp(join(tmpdir(), "levee-bench-"));
  const leveeDir = join(folder, "levee");
  const multusDir = join(folder, "multus");
  await mkdir(leveeDir, { mode: 0o700 });
  await mkdir(multusDir, { mode: 0o700 });
  const daemon = spawn(
    process.execPath,
    [join(import.meta.dir, "trivial-daemon.ts"), join(leveeDir, "levee.sock"), join(multusDir, "multus.sock")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    await once(daemon.stdout, "data");
    const peer = await multus(multusVersion);
    const contenders = [
      floor,
      ...leveeCalls(leveeDir),
      ...("folder" in peer ? multusCalls(join(peer.folder, "multus-shim"), multusDir) : []),
    ];
    const waiting = new Map<Contender, number>();
    for (const contender of contenders.filter(({ env }) => env["CNI_COMMAND"] === "STATUS")) {
      waiting.set(contender, await waitingMib(contender, join(folder, "silent")));
    }
    const rows = measure(contenders, waiting);
    return {
      name: "shim",
      title,
      command: "npm run bench -- shim",
      header: timedHeader,
      rows: rows.map(timedCells),
      plots: { shim: barChart({ title, unit: "ms", rows }) },
      figures: rows,
      verdicts: verdictsOf(rows),
      notes: "missing" in peer ? [`No comparison with multus-shim: ${peer.missing}`] : [],
    };
  } finally {
    daemon.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

const floor: Contender = { label: "an empty program (/bin/true)", program: "/bin/true", env: {}, stdin: "" };

function leveeCalls(socketDir: string): readonly Contender[] {
  const program = join(import.meta.dir, "../../dist/levee-shim");
  const conf = JSON.stringify({ cniVersion: "1.1.0", name: "bench", type: "levee-shim", daemonSocketDir: socketDir });
  return [
    { label: "levee-shim VERSION", program, env: { CNI_COMMAND: "VERSION" }, stdin: conf },
    { label: "levee-shim STATUS", program, env: { CNI_COMMAND: "STATUS", CNI_PATH: "/opt/cni/bin" }, stdin: conf },
  ];
}

function multusCalls(program: string, socketDir: string): readonly Contender[] {
  const conf = JSON.stringify({ cniVersion: "1.1.0", name: "bench", type: "multus-shim", daemonSocketDir: socketDir });
  return [
    { label: `multus-shim ${multusVersion} VERSION`, program, env: { CNI_COMMAND: "VERSION" }, stdin: conf },
    {
      label: `multus-shim ${multusVersion} STATUS`,
      program,
      env: { CNI_COMMAND: "STATUS", CNI_PATH: "/opt/cni/bin" },
      stdin: conf,
    },
  ];
}

/** All contenders in turn, over and over, so that other load on the machine affects all of them equally. */
function measure(contenders: readonly Contender[], waiting: ReadonlyMap<Contender, number>): readonly TimedRow[] {
  const timesMs = contenders.map((): number[] => []);
  for (let run = 0; run < runs; run += 1) {
    for (const [index, contender] of contenders.entries()) {
      const startedMs = performance.now();
      const done = Bun.spawnSync([contender.program], {
        env: contender.env,
        stdin: Buffer.from(contender.stdin),
        stdout: "pipe",
        stderr: "pipe",
      });
      timesMs[index]?.push(performance.now() - startedMs);
      if (done.exitCode !== 0)
        throw new Error(`${contender.label} failed: ${done.stdout.toString()} ${done.stderr.toString()}`);
    }
  }
  return contenders.map((contender, index) => timedRow(contender.label, timesMs[index] ?? [], waiting.get(contender)));
}

function verdictsOf(rows: readonly TimedRow[]): readonly Verdict[] {
  const ours = rows.find((row) => row.label === "levee-shim STATUS");
  const theirs = rows.find((row) => row.label.startsWith("multus-shim") && row.label.endsWith("STATUS"));
  if (ours === undefined || theirs === undefined) return [];
  const ratio = round(ours.median / theirs.median);
  return [
    {
      promise: "a call takes at most a quarter of multus-shim's time",
      seen: `${ratio} of it (${ours.median} ms against ${theirs.median} ms)`,
      holds: ratio <= 0.25,
    },
  ];
}

/**
 * Memory of a shim that waits for a daemon that does not answer. (The kernel's peak for a short-lived child includes the
 * memory of its parent, so it says nothing about the shim.)
 */
async function waitingMib(contender: Contender, socketDir: string): Promise<number> {
  await mkdir(socketDir, { mode: 0o700, recursive: true });
  const servers = ["levee.sock", "multus.sock"].map((name) => createServer().listen(join(socketDir, name)));
  const conf = JSON.stringify({ ...(JSON.parse(contender.stdin) as object), daemonSocketDir: socketDir });
  const child = spawn(contender.program, [], { env: contender.env, stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(conf);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  child.kill("SIGKILL");
  for (const server of servers) server.close();
  await rm(socketDir, { recursive: true, force: true });
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
