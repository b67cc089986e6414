import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { distributionPlugins, ip } from "../lab/lab.ts";
import { seed } from "./seed.ts";

// Some two hundred short calls on a machine that may be busy.
setDefaultTimeout(240_000);

const shim = join(import.meta.dir, "../../dist/levee-shim");
const names = { box: `levee-bk-${process.pid}`, host: `levee-bh-${process.pid}` };
const bridge = "lvbk0";
let folder = "";

/** A host of its own, so that other tests see nothing of it. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-bk-"));
  for (const name of Object.values(names)) ip(["netns", "add", name]);
});

afterEach(() => {
  for (const name of Object.values(names)) ip(["netns", "del", name]);
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** The built-in bridge as a program, `through` another command; or Debian's program. */
function call(command: "ADD" | "DEL", through: readonly string[] = [], program?: string): Ended {
  const ipam = { type: "host-local", dataDir: join(folder, "ipam"), ranges: [[{ subnet: "10.93.0.0/24" }]] };
  const conf = { cniVersion: "1.0.0", name: "n", type: "bridge", bridge, isGateway: true, mtu: 1400, ipam };
  const env = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: "c1",
    CNI_NETNS: `/run/netns/${names.box}`,
    CNI_IFNAME: "eth0",
    CNI_PATH: distributionPlugins,
    PATH: process.env["PATH"] ?? "",
  };
  const own = program === undefined ? [shim, "plugin", "bridge", "1.1.1"] : [program];
  const args = ["netns", "exec", names.host, ...through, ...own];
  const { status, stdout, stderr } = spawnSync("ip", args, { env, input: JSON.stringify(conf), encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

const isSkipped = (name: string): boolean => ["execve", "exit_group", "brk", "rt_sigaction"].includes(name);

/** The same of a run with its children: each name as often as the process with most calls of it has. */
function instantsOfAll(): readonly (readonly [name: string, count: number])[] {
  const log = join(folder, "strace");
  expect(call("DEL", ["strace", "-f", "-o", log])).toMatchObject({ status: 0 });
  const counts = new Map<string, number>();
  for (const [, process = "", name = ""] of readFileSync(log, "utf8").matchAll(/^(\d+) +([a-z_0-9]+)\(/gmu)) {
    const key = `${process} ${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const most = new Map<string, number>();
  for (const [key, count] of counts) {
    const name = key.split(" ")[1] ?? "";
    most.set(name, Math.max(count, most.get(name) ?? 0));
  }
  return [...most]
    .filter(([name]) => !isSkipped(name))
    .flatMap(([name, count]) => range(count).map((at) => [name, at]));
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Every system call of a whole run: its name, and its place among the calls of that name. */
function instantsOf(command: "ADD" | "DEL"): readonly (readonly [name: string, count: number])[] {
  const log = join(folder, "strace");
  expect(call(command, ["strace", "-o", log])).toMatchObject({ status: 0 });
  const counts = new Map<string, number>();
  return (
    readFileSync(log, "utf8")
      .split("\n")
      .flatMap((line) => /^([a-z_0-9]+)\(/u.exec(line)?.[1] ?? [])
      .map((name) => {
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        return [name, count] as const;
      })
      .filter(([name]) => !isSkipped(name))
      // Every second one, by the seed the even or the odd ones: two runs of the tests have all of them.
      .filter((_, index) => index % 2 === seed % 2)
  );
}

function killedAt(
  command: "ADD" | "DEL",
  [name, count]: readonly [string, number],
  options: readonly string[] = [],
): Ended {
  const inject = `inject=${name}:signal=SIGKILL:when=${count}`;
  return call(command, ["strace", ...options, "-o", "/dev/null", "-e", `trace=${name}`, "-e", inject]);
}

/** Leases, ports of the bridge, interfaces of the container. */
function left(): readonly string[] {
  const leases = join(folder, "ipam/n");
  const links = (name: string): readonly string[] =>
    ip(["-n", name, "-o", "link", "show"])
      .split("\n")
      .filter((line) => line !== "" && !/^\d+: lo:/u.test(line));
  return [
    ...(existsSync(leases) ? readdirSync(leases).filter((name) => /^\d/u.test(name)) : []),
    ...links(names.box),
    ...links(names.host).filter((line) => !line.includes(`: ${bridge}:`)),
  ];
}

test.skipIf(Bun.which("strace") === null || !existsSync(`${distributionPlugins}/bridge`))(
  `a built-in killed before any of its system calls leaves nothing that DEL does not remove (seed ${seed})`,
  () => {
    const instants = instantsOf("ADD");
    expect(instants.length).toBeGreaterThan(30);
    expect(call("DEL")).toEqual({ status: 0, output: "" });
    let killed = 0;
    instants.forEach((instant, index) => {
      const { status } = killedAt("ADD", instant);
      if (status !== 0) killed += 1;
      // The state is the program's own, so its DEL removes what a killed built-in left, and the other way round.
      const program = index % 2 === 0 ? undefined : `${distributionPlugins}/bridge`;
      expect([instant, call("DEL", [], program), left()]).toEqual([instant, { status: 0, output: "" }, []]);
    });
    expect(killed).toBeGreaterThan(instants.length * 0.8);
    // The address is free again, and the next ADD has nothing to wait for.
    expect(call("ADD")).toMatchObject({ status: 0 });
    expect(left()).toHaveLength(3);
    expect(call("DEL")).toMatchObject({ status: 0 });
  },
);

test.skipIf(Bun.which("strace") === null)(
  `a DEL of a built-in killed before any of its system calls is finished by the next one (seed ${seed})`,
  () => {
    expect(call("ADD")).toMatchObject({ status: 0 });
    const instants = instantsOf("DEL");
    instants.forEach((instant) => {
      expect(call("ADD")).toMatchObject({ status: 0 });
      killedAt("DEL", instant);
      expect([instant, call("DEL"), left()]).toEqual([instant, { status: 0, output: "" }, []]);
    });
  },
);

test.skipIf(Bun.which("strace") === null)(
  "a DEL whose child is killed before any of its system calls deletes the link itself, or the next DEL does",
  () => {
    expect(call("ADD")).toMatchObject({ status: 0 });
    const instants = instantsOfAll();
    // Only the child ends with its parent, and closes what it has of it.
    const ofChild = instants.filter(([name]) => ["prctl", "close_range", "dup2"].includes(name));
    expect(ofChild.length).toBeGreaterThan(4);
    for (const instant of instants) {
      expect(call("ADD")).toMatchObject({ status: 0 });
      const { status } = killedAt("DEL", instant, ["-f"]);
      if (ofChild.includes(instant)) expect([instant, status, left()]).toEqual([instant, 0, []]);
      expect([instant, call("DEL"), left()]).toEqual([instant, { status: 0, output: "" }, []]);
    }
  },
);
