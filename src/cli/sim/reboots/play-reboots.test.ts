import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-reboots-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function run(text: string, ...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const path = join(folder, "scenario.yaml");
  writeFileSync(path, text);
  const shell = fakeShell({ argv: ["sim", "run", path, ...argv], isRoot: false });
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

const few = `name: three nodes with reboots due
nodes: [{name: worker, count: 3}]
reboots: {takes: 1m, lookEvery: 30s}
`;

interface Told {
  readonly holds: boolean;
  readonly awayMax: number;
  readonly leads: number;
  readonly nodes: readonly {
    readonly dueMs: number;
    readonly allowedMs: number;
    readonly rebootedMs: number;
    readonly backMs: number;
    readonly heldMs: Readonly<Record<string, number>>;
  }[];
}

async function told(text: string): Promise<Told> {
  return JSON.parse((await run(text, "-o", "json")).out) as Told;
}

describe("levee sim run, with reboots", () => {
  test("says of each node when it was due, allowed, rebooted and back; the same seed prints the same bytes", async () => {
    const { status, out } = await run(few);
    expect(status).toBe(0);
    expect(out).toStartWith("✓ Levee holds three nodes with reboots due\n");
    expect(out).toContain("3 of 3: the first back after ");
    expect(out).toContain("1 of 3 nodes; --gate-at-once 1");
    expect(out).toMatch(/NODE +DUE +ALLOWED +REBOOTED +BACK +HELD BY\nworker-1 +0s +\d/u);
    expect(out.split("\n").length).toBeLessThan(25);
    expect((await run(few)).out).toBe(out);
    expect((await run(few, "--seed", "2")).out).not.toBe(out);
  }, 60_000);

  test("one node follows the other, five minutes after its start", async () => {
    const { nodes, awayMax } = await told(few);
    const inOrder = nodes.toSorted((one, other) => one.rebootedMs - other.rebootedMs);
    for (const [at, { rebootedMs, allowedMs, backMs }] of inOrder.entries()) {
      expect(allowedMs).toBeLessThan(rebootedMs);
      expect(backMs - rebootedMs).toBe(60_000);
      expect(rebootedMs).toBeGreaterThan((inOrder[at - 1]?.backMs ?? -300_000) + 290_000);
    }
    expect(awayMax).toBe(1);
  }, 60_000);

  test("an alert holds every node, and a killed leader is followed by another", async () => {
    const faults = "faults: [{kind: alert, for: 20m}, {kind: kill-leader, at: 5m}]\n";
    const { nodes, leads } = await told(few + faults);
    for (const { rebootedMs, heldMs } of nodes) {
      expect(rebootedMs).toBeGreaterThan(20 * 60_000);
      expect(heldMs["FiringAlert"]).toBeGreaterThan(18 * 60_000);
    }
    expect(leads).toBe(2);
  }, 60_000);

  test("a window keeps nodes waiting until it opens", async () => {
    const window = "window: Mon 02:00-05:00, startsAt: 2026-11-16T01:30:00Z, lookEvery";
    for (const { rebootedMs, heldMs } of (await told(few.replace("lookEvery", window))).nodes) {
      expect(rebootedMs).toBeGreaterThan(30 * 60_000);
      expect(heldMs["OutsideWindow"]).toBeGreaterThan(28 * 60_000);
    }
  }, 60_000);

  test("ends with 1 and the reason when a node waits too long", async () => {
    const { status, out, err } = await run(`${few}promises: {rebootedWithin: 5m}\n`);
    expect(status).toBe(1);
    expect(out).toStartWith(
      "× Levee does not hold three nodes with reboots due: 2 of 3 nodes were not rebooted within 5 min",
    );
    expect(err).toContain("(reboots-broke)");
  }, 60_000);

  test("--report writes a page with plots and nothing from elsewhere", async () => {
    const report = join(folder, "reboots.html");
    expect((await run(few, "--report", report)).err).toContain(`The report is ${report}`);
    const page = readFileSync(report, "utf8");
    expect(page).toContain("Levee holds three nodes with reboots due");
    expect(page.match(/<svg/gu)).toHaveLength(3);
    expect(page).not.toMatch(/<script|https?:/u);
  }, 60_000);

  test("Ctrl-C ends it with what is known so far", async () => {
    const path = join(folder, "scenario.yaml");
    writeFileSync(path, `${few}faults: [{kind: cordon, nodes: [worker-1], at: 5m, for: 20h}]\n`);
    const shell = fakeShell({ argv: ["sim", "run", path] });
    setTimeout(() => shell.interrupt(), 700);
    expect(await runCli(shell)).toBe(130);
    expect(shell.stdout.text).toStartWith("× Levee: three nodes with reboots due: ended early");
    expect(shell.stdout.text).toContain("of 3");
  }, 60_000);
});

describe("a mistake is named with line, field, value and remedy", () => {
  const also = (line: string): string => `${few}${line}\n`;
  const reboots = (field: string): string => few.replace("takes: 1m", field);
  const storm = (line: string): string => `name: few\nnodes: [{name: a}]\npods: [{name: web}]\n${line}\n`;
  test.each([
    ["pods beside reboots", also("pods: [{name: web}]"), "3: reboots cannot be beside pods: make two files"],
    ["networks", also("networks: [lan]"), "4: networks does not fit reboots: leave it out"],
    ["the daemon", also("daemon: {limit: 50Mi}"), "4: daemon does not fit reboots: leave it out"],
    ["a promise", also("promises: {criticalWithin: 1s}"), "4: promises.criticalWithin does not fit reboots"],
    ["a node", reboots("nodes: [agent]"), '3: reboots.nodes[0] is "agent": it must be one of worker'],
    ["a door", reboots("door: window"), '3: reboots.door is "window": it must be one of label, ticket'],
    ["a window", reboots("window: nights"), '3: reboots.window is "nights": it has not the form DAYS HH:MM-HH:MM'],
    ["a start", reboots("startsAt: noon"), '3: reboots.startsAt is "noon": it must be a time in UTC, such as 2026'],
    ["no time away", reboots("takes: 1ms"), "3: reboots.takes is 0.001s: it must be from 1s to 168h"],
    ["no pause", few.replace("30s", "5ms"), "3: reboots.lookEvery is 0.005s: it must be from 1s to 168h"],
    ["a year", reboots("over: 8760h"), "3: reboots.over is 31536000s: it must be from 0s to 168h"],
    ["a fault of pods", also("faults: [{kind: disk-full}]"), "4: faults[0].kind is disk-full, which fits only pods"],
    ["an endless fault", also("faults: [{kind: alert, for: 999h}]"), "4: faults[0] is 3596400s: it must be from 0s"],
    ["a fault's network", also("faults: [{kind: alert, network: lan}]"), "faults[0].network does not fit alert"],
    ["a fault's node", also("faults: [{kind: alert, nodes: [worker]}]"), "faults[0].nodes does not fit alert"],
    ["every", also("faults: [{kind: alert, every: 1m}]"), "faults[0].every does not fit alert: leave it out"],
    ["neither pods nor reboots", "name: few\nnodes: [{name: a}]\n", "1: pods is missing: add it, or reboots"],
    [
      "kill-leader with pods",
      storm("faults: [{kind: kill-leader}]"),
      "4: faults[0].kind is kill-leader, which fits only",
    ],
    ["a promise with pods", storm("promises: {rebootedWithin: 1h}"), "4: promises.rebootedWithin fits only reboots"],
    [
      "two at the same time",
      also("faults: [{kind: cordon, for: 5m}, {kind: cordon, nodes: [worker-2], at: 4m}]"),
      "4: faults have two times of cordon of worker-2 that overlap",
    ],
  ])("%s", async (_, text, message) => {
    const { status, out, err } = await run(text);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).toContain("try: levee sim schema prints the schema");
  });

  test("--impl has no meaning without pods", async () => {
    const { status, err } = await run(few, "--impl", "multus-4.2.2");
    expect(status).toBe(2);
    expect(err).toContain("Cannot choose what attaches the pods: this scenario has reboots and no pods");
  });
});
