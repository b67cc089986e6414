import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { LimitedGroup } from "../../src/cli/storm/limited-group.ts";

/** `levee storm` as people run it: the built programs, real plugins, real namespaces, a real limit. Small, so quick. */
const levee = resolve(import.meta.dirname, "../../dist/levee");
const folder = mkdtempSync(join(tmpdir(), "levee-storm-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** At 64Mi, so that it also holds on a disk with a large read-ahead, where a small cgroup thrashes. */
const small = ["storm", "--limit", "128Mi", "--second", "2", "--second-after", "100ms", "--work-dir", folder];

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** There is one storm per machine; another copy of these tests may hold it. */
const turnWithinMs = 45_000;

async function storm(...args: readonly string[]): Promise<Ended> {
  const endsMs = performance.now() + turnWithinMs;
  for (;;) {
    const ended = await finished(start(args));
    if (!ended.err.includes("already-running") || performance.now() > endsMs) return ended;
    await Bun.sleep(500);
  }
}

function start(args: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  return Bun.spawn([levee, ...small, ...args], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function finished(child: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<Ended> {
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, out, err };
}

/** A storm that is under way: some pods are attached, others are not. */
async function underWay(): Promise<Bun.Subprocess<"ignore", "pipe", "pipe">> {
  const endsMs = performance.now() + turnWithinMs;
  while (performance.now() < endsMs) {
    const child = start(["--pods", "60"]);
    while (child.exitCode === null) {
      if (portsOf("lvstorm-lan0") > 2) return child;
      await Bun.sleep(10);
    }
    await Bun.sleep(500);
  }
  throw new Error("no storm got under way");
}

function portsOf(bridge: string): number {
  const ports = `/sys/class/net/${bridge}/brif`;
  return existsSync(ports) && existsSync(join(folder, "levee-storm")) ? readdirSync(ports).length : 0;
}

/** Everything that has one of the storm's names. */
function leftovers(): readonly string[] {
  const netns = existsSync("/var/run/netns") ? readdirSync("/var/run/netns") : [];
  return [
    ...netns.filter((name) => name.startsWith("levee-storm-")),
    ...readdirSync("/sys/class/net").filter((name) => name.startsWith("lvstorm-")),
    ...["/run/levee-storm", join(folder, "levee-storm"), join(folder, "levee-storm.img")].filter((path) =>
      existsSync(path),
    ),
    ...(LimitedGroup.existing(systemClock, "levee-storm") === undefined ? [] : ["the cgroup"]),
    ...processes(),
  ];
}

function processes(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map((pid) => commandOf(pid))
    .filter(
      (command) =>
        (command.includes(folder) && command.includes("daemon")) || command.includes("--socket-dir /run/levee-storm"),
    );
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // It ended meanwhile.
  }
}

interface Value {
  readonly holds: boolean;
  readonly verdict: string;
  readonly runs: readonly {
    readonly burst: { readonly attached: number };
    readonly second: { readonly attached: number };
    readonly attachedTraces: object;
    readonly deletedTraces: object;
    readonly peakBytes: number;
    readonly peakAnonBytes: number;
  }[];
}

describe("levee storm", () => {
  test("attaches all pods, certifies it, writes the page, and leaves nothing", async () => {
    const page = join(folder, "storm.html");
    const { status, out, err } = await storm("--pods", "12", "-o", "json", "--report", page);
    expect({ status, isError: err.includes("Error") }).toEqual({ status: 0, isError: false });
    const value = JSON.parse(out) as Value;
    expect(value).toMatchObject({ holds: true, verdict: "holds 12 pods at 128Mi on this node" });
    expect(value.runs[0]).toMatchObject({
      burst: { attached: 12 },
      second: { attached: 2 },
      oomKills: 0,
      restarts: 0,
      // Two networks for each of 14 pods, and all of it gone afterwards.
      attachedTraces: { leases: 28, ports: 28, interfaces: 28, journalRecords: 14, journalLeaks: 0 },
      deletedTraces: { leases: 0, ports: 0, interfaces: 0, journalRecords: 0, journalLeaks: 0 },
    });
    expect(value.runs[0]?.peakBytes).toBeLessThanOrEqual(128 * 1024 ** 2);
    expect(value.runs[0]?.peakAnonBytes).toBeGreaterThan(1024 ** 2);
    expect(readFileSync(page, "utf8")).toContain("Levee holds 12 pods at 128Mi on this node");
    expect(leftovers()).toEqual([]);
  });

  test("says what did not hold and ends with 1", async () => {
    const { status, out, err } = await storm("--pods", "3", "--second-within", "1ms");
    expect(status).toBe(1);
    expect(out).toStartWith("× does not hold 3 pods at 128Mi on this node: a pod of the second namespace waited");
    expect(err).toContain("(storm-broke)");
    expect(leftovers()).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("leaves nothing when %s ends it in the middle", async (signal) => {
    const child = await underWay();
    child.kill(signal);
    const { status, err } = await finished(child);
    expect(status).toBe(130);
    expect(err).toContain("Interrupted while the storm was under way");
    expect(leftovers()).toEqual([]);
  });

  test("what a killed one left is removed by the next", async () => {
    const child = await underWay();
    child.kill("SIGKILL");
    await child.exited;
    expect(leftovers().length).toBeGreaterThan(60);
    const { status, err } = await storm("--pods", "2");
    expect(err).toContain("An earlier storm was cut short; removed what it left: the cgroup levee-storm");
    expect(status).toBe(0);
    expect(leftovers()).toEqual([]);
  });

  test("says what is missing before it makes anything", async () => {
    const plugins = await storm("--plugins", "/usr");
    expect(plugins).toMatchObject({
      status: 1,
      out: "",
      err: expect.stringContaining("Cannot find the plugin bridge in /usr"),
    });
    const shim = await storm("--shim", "/nowhere/levee-shim");
    expect(shim).toMatchObject({ status: 1, err: expect.stringContaining("(shim-missing)") });
    const page = await storm("--report", "/nowhere/storm.html");
    expect(page).toMatchObject({ status: 2, err: expect.stringContaining("there is no folder /nowhere") });
    const wrong = await storm("--limit", "50MB");
    expect(wrong).toMatchObject({ status: 2, err: expect.stringContaining("try: --limit 50Mi") });
    expect(leftovers()).toEqual([]);
  });
});
