import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Clock } from "../../base/clock.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-sim-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const shell = fakeShell({ argv: ["sim", ...argv], isRoot: false });
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

const small = ["storm", "--nodes", "1", "--pods", "20", "--critical", "2", "--critical-after", "2s"] as const;

describe("levee sim storm", () => {
  test("prints one screen and ends with 0 when it holds; the same seed prints the same bytes", async () => {
    const first = await levee(...small);
    expect(first.status).toBe(0);
    expect(first.out).toStartWith("✓ Levee holds 20 pods at 50Mi, on one node\n");
    expect(first.out).toMatch(/attached {10}20 of 20: half after .*, all after /u);
    expect(first.out).toContain("critical pods     2 of 2 attached; waited ");
    // The time of the rows and that of the table are of the same pods.
    const [, tookText = "none"] = /attached {10}20 of 20: .*, all after (.*)\n/u.exec(first.out) ?? [];
    expect(first.out).toMatch(new RegExp(`node-1 {3}2 of 2 {5}20 of 20 {3}${tookText} {2,}0 {10}0 {7}`, "u"));
    expect(first.out.split("\n").length).toBeLessThan(25);
    expect((await levee(...small)).out).toBe(first.out);
    expect((await levee(...small, "--seed", "2")).out).not.toBe(first.out);
  }, 60_000);

  test("ends with 1 and the reasons when it does not hold", async () => {
    const { status, out, err } = await levee(...small, "--impl", "multus-4.2.2", "--limit", "16Mi", "--timeout", "20s");
    expect(status).toBe(1);
    expect(out).toStartWith("× Multus 4.2.2 does not hold 20 pods at 16Mi, on one node: ");
    expect(out).toMatch(/API server +\d+ requests of the daemons, at most \d+ in one second/u);
    expect(err).toContain("(storm-broke)");
  }, 60_000);

  test("-o json has every pod, and --report a page without anything from elsewhere", async () => {
    const report = join(folder, "storm.html");
    const { status, out, err } = await levee(...small, "--report", report, "-o", "json");
    expect(status).toBe(0);
    const value = JSON.parse(out) as { holds: boolean; pods: { attachedMs: number }[]; nodes: unknown[] };
    expect(value.holds).toBe(true);
    expect(value.pods.filter(({ attachedMs }) => attachedMs > 0)).toHaveLength(22);
    expect(err).toContain(`The report is ${report}`);
    const page = readFileSync(report, "utf8");
    expect(page).toContain("Levee holds 20 pods at 50Mi");
    expect(page.match(/<svg/gu)).toHaveLength(5);
    expect(page).not.toMatch(/<script|https?:/u);
  }, 60_000);

  test("Ctrl-C ends it with what is known so far", async () => {
    const shell = fakeShell({ argv: ["sim", "storm", "--nodes", "1", "--pods", "2000"] });
    setTimeout(() => shell.interrupt(), 700);
    expect(await runCli(shell)).toBe(130);
    expect(shell.stdout.text).toContain("ended early, this is what was known by then");
    expect(shell.stdout.text).toContain("node-1");
  }, 60_000);

  test("shows progress on what takes longer than two seconds", async () => {
    // A slow machine: ten thousand times as much time passes for the command.
    const beganMs = systemClock.monotonicMs();
    const slow = { monotonicMs: () => beganMs + 10_000 * (systemClock.monotonicMs() - beganMs) };
    const clock: Clock = Object.assign(Object.create(systemClock) as Clock, slow);
    const shell = fakeShell({ argv: ["sim", ...small], clock });
    expect(await runCli(shell)).toBe(0);
    // Before the first pod comes, too.
    expect(shell.stderr.text).toMatch(/^The daemons start \(\d+ s\)\n/u);
    expect(shell.stderr.text).toMatch(/Simulated .*: \d+ of 22 pods attached \(\d+ s\)/u);
    expect((await levee(...small)).err).toBe("");
  }, 60_000);

  test.each([
    [["--pods", "many"], 'Cannot use "many" as --pods: it must be a whole number from 1 to 5000', "--pods 219"],
    [["--timeout", "5000h"], 'Cannot use "5000h" as --timeout: it must be at most 24h', "--timeout 3m"],
    [["--critical-after", "1441m"], 'Cannot use "1441m" as --critical-after: it must', "--critical-after 2s"],
    [["--nodes", "0"], 'Cannot use "0" as --nodes', "--nodes"],
    [["--limit", "512"], "Cannot run a daemon in 512: the limit must be at least 1Mi", "--limit 50Mi"],
    [
      ["--impl", "multus"],
      'Cannot simulate "multus": --impl must be one of levee, multus-4.2.2, multus-4.3.0',
      "--impl levee",
    ],
    [["--connection-limit", "8"], "Cannot give levee a connection limit", "--impl multus-4.3.0"],
    [
      ["--report", "/no/folder/x.html"],
      "Cannot write the report /no/folder/x.html: there is no folder /no/folder",
      "--report",
    ],
    [["--report", "/dev/null"], "Cannot write the report /dev/null: this is no regular file", "--report"],
    [["--report", "/"], "Cannot write the report /: this is no regular file", "--report"],
    [["--report", ""], "Cannot write a report without a name", "--report"],
    [["--report", "/proc/x.html"], "Cannot write the report /proc/x.html: the folder /proc takes no file", "--report"],
    [["--from-cluster"], "Cannot use --from-cluster with levee sim storm", "levee sim --from-cluster"],
    [["--model", "/dev/zero"], "it must be a regular file", "levee sim calibrate"],
    [["--model", "/no/model.json"], "Cannot read the model /no/model.json", "levee sim calibrate"],
  ])("refuses %j", async (words, message, remedy) => {
    const { status, out, err } = await levee("storm", ...words);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).toContain(`try: `);
    expect(err).toContain(remedy);
  });

  test("refuses an unknown verb and none", async () => {
    expect(await levee("flood")).toMatchObject({ status: 2 });
    expect((await levee()).err).toContain("Cannot run levee sim without a verb");
  });
});

describe("a model file", () => {
  test.each([
    ["{", "it is not JSON"],
    ["[]", " must be an object"],
    ['{"cpus": 4}', "cpus must be left out: there is no such constant: current value is 4"],
    ['{"daemon": {"baseMib": "14"}}', 'daemon.baseMib must be a number from 0 to 1000000: current value is "14"'],
    ['{"cores": 0}', "cores must be at least 1"],
  ])("%s is refused with key, value and remedy", async (text, message) => {
    const path = join(folder, "model.json");
    writeFileSync(path, text);
    const { status, err } = await levee("storm", "--model", path);
    expect(status).toBe(2);
    expect(err).toContain(`Cannot use the model ${path}`);
    expect(err).toContain(message);
    expect(err).toContain("try: levee sim calibrate");
  });

  test("changes what things cost", async () => {
    const path = join(folder, "model.json");
    writeFileSync(path, '{"pluginCpuMs": 40}');
    const usual = await levee(...small, "-o", "json");
    const slow = await levee(...small, "--model", path, "-o", "json");
    const tookMs = ({ out }: { readonly out: string }): number =>
      (JSON.parse(out) as { nodes: { tookMs: number }[] }).nodes[0]?.tookMs ?? 0;
    expect(tookMs(slow)).toBeGreaterThan(3 * tookMs(usual));
  }, 60_000);
});
