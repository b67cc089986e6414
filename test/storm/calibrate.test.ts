import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fittedConstants } from "../../src/sim/storm/fit-model.ts";
import { OwnMachine } from "./own-machine.ts";

/** `levee sim calibrate` as people run it: the built programs, and real storms with real plugins. Small, so quick. */
const levee = resolve(import.meta.dirname, "../../dist/levee");
const folder = mkdtempSync(join(tmpdir(), "levee-calibrate-test-"));
let machine: OwnMachine;
beforeAll(async () => {
  machine = await OwnMachine.start();
});
afterAll(async () => {
  await machine.stop();
  rmSync(folder, { recursive: true, force: true });
});

const small = ["--pods", "20,40,60", "--work-dir", folder];

function start(...args: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  return machine.spawn([levee, "sim", ...args]);
}

async function finished(child: Bun.Subprocess<"ignore", "pipe", "pipe">) {
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, out, err };
}

interface Storm {
  readonly pods: number;
  readonly tookMs: number;
  readonly daemonCpuMs: number;
}

describe("levee sim calibrate", () => {
  test("measures three storms, writes a model that is near to them, and levee sim takes it", async () => {
    const path = join(folder, "model.json");
    const { status, out, err } = await finished(start("calibrate", ...small, "--write", path, "-o", "json"));
    expect({ status, isError: err.includes("Error") }).toEqual({ status: 0, isError: false });
    const value = JSON.parse(out) as { model: object; measured: readonly Storm[]; simulated: readonly Storm[] };
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(value.model);
    for (const constant of fittedConstants) expect(value.model).toHaveProperty(constant, expect.any(Number));
    expect(value.measured.map(({ pods }) => pods)).toEqual([20, 40, 60]);
    // The smaller storm: that the larger one took longer in proportion is up to what else the machine does.
    const [real] = value.measured;
    const [guess] = value.simulated;
    expect((guess?.tookMs ?? 0) / (real?.tookMs ?? 0)).toBeWithin(0.7, 1.3);
    expect((guess?.daemonCpuMs ?? 0) / (real?.daemonCpuMs ?? 0)).toBeWithin(0.5, 1.5);
    const storm = await finished(start("storm", "--nodes", "1", "--pods", "40", "--critical", "0", "--model", path));
    expect(storm.out).toStartWith("✓ Levee holds 40 pods at 50Mi, on one node\n");
    expect(readdirSync(folder)).toEqual(["model.json"]);
  }, 120_000);

  test("SIGINT while it fits the model ends it with what was measured, and writes none", async () => {
    const path = join(folder, "none.json");
    const child = start("calibrate", "--pods", "20,80", "--work-dir", folder, "--write", path);
    const out = new Response(child.stdout).text();
    const decoder = new TextDecoder();
    let err = "";
    for await (const chunk of child.stderr) {
      const before = measured(err);
      err += decoder.decode(chunk, { stream: true });
      if (before < 2 && measured(err) === 2) machine.signal(child, "SIGINT");
    }
    expect(err).toContain("Interrupted while fitting the model: no model was written");
    expect(await child.exited).toBe(130);
    expect(await out).toMatch(/^PODS +TIME +CPU OF THE DAEMON +ITS MEMORY\n20 .*\n80 .*\n/u);
    expect(existsSync(path)).toBe(false);
  }, 120_000);

  test.each([["60"], ["219,60"], ["60,219,219"], ["60,120,219,900"]])("refuses the sizes %s", async (sizes) => {
    const { status, err } = await finished(start("calibrate", "--pods", sizes));
    expect(status).toBe(2);
    expect(err).toContain(
      `Cannot use "${sizes}" as --pods: it must be two or three numbers of pods, the smallest first`,
    );
    expect(err).toContain("try: --pods 60,180,600");
  });
});

/** How many storms have said how they ended. */
function measured(err: string): number {
  return err.split("\n").filter((line) => /^ *\d+ pods +(?:held|broke): /u.test(line)).length;
}
