import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ClusterToSimulate } from "../../src/cli/sim/from-cluster/cluster-to-simulate.fixture.ts";
import { plantedBugs } from "./planted-bugs.ts";

/** Ctrl-C on `npm run sim` and `levee sim`: they end with what is known so far. */
const root = resolve(import.meta.dirname, "../..");
const copy = mkdtempSync(join(tmpdir(), "levee-interrupt-"));

afterAll(() => rmSync(copy, { recursive: true }));

interface Ended {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Sends SIGINT when standard error has these words. */
function interruptedAt(words: string, cwd: string, ...args: readonly string[]): Promise<Ended> {
  return endedAt(
    words,
    Bun.spawn([process.execPath, "scripts/sim.ts", ...args], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
  );
}

async function endedAt(words: string, child: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<Ended> {
  const out = new Response(child.stdout).text();
  const decoder = new TextDecoder();
  let err = "";
  for await (const chunk of child.stderr) {
    const before = err.includes(words);
    err += decoder.decode(chunk, { stream: true });
    if (!before && err.includes(words)) child.kill("SIGINT");
  }
  return { exitCode: await child.exited, out: await out, err };
}

describe("SIGINT to levee sim", () => {
  const levee = join(root, "dist/levee");

  test("ends a storm with what was attached by then", async () => {
    const storm = ["sim", "storm", "--nodes", "1", "--pods", "4000"];
    const child = Bun.spawn([levee, ...storm], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const { exitCode, out } = await endedAt("pods attached (", child);
    expect(out).toContain("ended early, this is what was known by then");
    expect(exitCode).toBe(130);
  }, 60_000);

  test("ends --from-cluster with the nodes that are done", async () => {
    const cluster = await ClusterToSimulate.start();
    cluster.wish = { pods: { agent1: 3, agent2: 2_000 } };
    const child = Bun.spawn([levee, ...cluster.argvOf("--max-pods", "16")], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const { exitCode, out, err } = await endedAt("pods at 50 MiB with levee on agent2", child);
    await cluster.stop();
    expect(out).toContain("node agent1 holds 3 pods at once");
    expect(out).not.toContain("node agent2");
    expect(err).toContain("Interrupted after 1 of 2 nodes");
    expect(exitCode).toBe(130);
  }, 60_000);
});

describe("SIGINT to npm run sim", () => {
  test("ends the seeds with how many were played", async () => {
    const { exitCode, out } = await interruptedAt("of 100000 seeds", root, "--seeds", "100000");
    expect(out).toMatch(
      /^Interrupted; this is what was known by then\n[1-9]\d* seeds, [1-9]\d* steps, .* simulated hours in/u,
    );
    expect(exitCode).toBe(130);
  }, 120_000);

  test("ends a fleet with the nodes that are done", async () => {
    const fleet = ["fleet", "--nodes", "5000", "--pods-per-node", "2", "--workers", "1"];
    const { exitCode, out, err } = await interruptedAt("1 of 40 cohorts", root, ...fleet);
    expect(err).toMatch(/Interrupted after \d*(?:00|25|50|75) of 5000 nodes\n/u);
    expect(out).toMatch(/^\d*(?:00|25|50|75) nodes of 2 pods for 1 h, seed 1; /u);
    expect(exitCode).toBe(130);
  }, 120_000);

  test("ends the search for the shortest story with the shortest so far", async () => {
    for (const name of ["src", "deploy/policies", "scripts/sim.ts", "scripts/fleet", "package.json", "tsconfig.json"])
      cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    const bug = plantedBugs.find(({ kind }) => kind === "guard");
    if (bug === undefined) throw new Error("no bug of the guard is planted");
    const path = join(copy, bug.file);
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(bug.from, () => bug.to),
    );
    const seeds = ["--kind", "guard", "--from", String(bug.seed), "--seeds", "500"];
    const { exitCode, out } = await interruptedAt("Looking for the shortest story: try", copy, ...seeds);
    expect(out).toMatch(/^Seed \d+ broke .*\n(?:.*\n)*Its shortest story has \d+ .*:\n\{/u);
    expect(out).toContain("\nInterrupted; this is what was known by then\n");
    expect(exitCode).toBe(130);
  }, 300_000);
});
