import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { OwnMachine, smallDisk } from "./own-machine.ts";

/** `levee storm` as people run it: the built programs, real plugins, real namespaces, a real limit. Small, so quick. */
const levee = resolve(import.meta.dirname, "../../dist/levee");
const folder = mkdtempSync(join(tmpdir(), "levee-storm-test-"));
let machine: OwnMachine;
beforeAll(async () => {
  machine = await OwnMachine.start();
});
afterAll(async () => {
  await machine.stop();
  rmSync(folder, { recursive: true, force: true });
});

const small = ["storm", "--limit", "64Mi", "--second", "2", "--second-after", "100ms", "--work-dir", folder];

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function storm(...args: readonly string[]): Promise<Ended> {
  return finished(start(args));
}

function start(args: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  return machine.spawn([levee, ...small, ...args]);
}

async function finished(child: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<Ended> {
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, out, err };
}

/** A storm that is under way: some pods are attached, others are not. */
async function underWay(): Promise<Bun.Subprocess<"ignore", "pipe", "pipe">> {
  const child = start(["--pods", "60"]);
  while (child.exitCode === null) {
    if (namesIn("/sys/class/net/lvstorm-lan0/brif").length > 2) return child;
    await Bun.sleep(10);
  }
  throw new Error(`the storm ended before it was under way: ${await new Response(child.stderr).text()}`);
}

function namesIn(inside: string): readonly string[] {
  const path = machine.path(inside);
  return existsSync(path) ? readdirSync(path) : [];
}

/** Everything that has one of the storm's names. */
function leftovers(): readonly string[] {
  return [
    ...namesIn("/run/netns").filter((name) => name.startsWith("levee-storm-")),
    ...namesIn("/sys/class/net").filter((name) => name.startsWith("lvstorm-")),
    ...namesIn("/run").filter((name) => name === "levee-storm"),
    ...namesIn("/sys/fs/cgroup/memory").filter((name) => name === "levee-storm"),
    ...namesIn(folder).filter((name) => name.startsWith("levee-storm")),
    ...processes(),
  ];
}

/** But for the first, which is the machine's. */
function processes(): readonly string[] {
  return namesIn("/proc")
    .filter((name) => /^\d+$/u.test(name) && name !== "1")
    .map((pid) => commandOf(pid))
    .filter((command) => command.includes("levee"));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(machine.path(`/proc/${pid}/cmdline`), "utf8").replaceAll("\0", " ");
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
    expect(value).toMatchObject({ holds: true, verdict: "holds 12 pods at 64Mi on this node" });
    expect(value.runs[0]).toMatchObject({
      burst: { attached: 12 },
      second: { attached: 2 },
      oomKills: 0,
      restarts: 0,
      // Two networks for each of 14 pods, and all of it gone afterwards.
      attachedTraces: { leases: 28, ports: 28, interfaces: 28, journalRecords: 14, journalLeaks: 0 },
      deletedTraces: { leases: 0, ports: 0, interfaces: 0, journalRecords: 0, journalLeaks: 0 },
    });
    expect(value.runs[0]?.peakBytes).toBeLessThanOrEqual(64 * 1024 ** 2);
    expect(value.runs[0]?.peakAnonBytes).toBeGreaterThan(1024 ** 2);
    expect(readFileSync(page, "utf8")).toContain("Levee holds 12 pods at 64Mi on this node");
    expect(leftovers()).toEqual([]);
  });

  test("says what did not hold and ends with 1", async () => {
    const { status, out, err } = await storm("--pods", "3", "--second-within", "1ms");
    expect(status).toBe(1);
    expect(out).toStartWith("× does not hold 3 pods at 64Mi on this node: a pod of the second namespace waited");
    expect(err).toContain("(storm-broke)");
    expect(leftovers()).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("leaves nothing when %s ends it in the middle", async (signal) => {
    const child = await underWay();
    machine.signal(child, signal);
    const { status, err } = await finished(child);
    expect(status).toBe(130);
    expect(err).toContain("Interrupted while running the storm");
    expect(leftovers()).toEqual([]);
  });

  test("what a killed one left is removed by the next", async () => {
    const child = await underWay();
    machine.signal(child, "SIGKILL");
    await child.exited;
    expect(leftovers().length).toBeGreaterThan(60);
    const { status, err } = await storm("--pods", "2");
    expect(err).toContain("An earlier storm was killed; removed what it left: the cgroup levee-storm");
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
    const room = await storm("--work-dir", smallDisk);
    expect(room).toMatchObject({ status: 1, err: expect.stringContaining("and 20.0 MiB are free (disk-full)") });
    const wrong = await storm("--limit", "50MB");
    expect(wrong).toMatchObject({ status: 2, err: expect.stringContaining("try: --limit 50Mi") });
    expect(leftovers()).toEqual([]);
  });
});
