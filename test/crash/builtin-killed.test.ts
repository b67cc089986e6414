import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { distributionPlugins, ip } from "../lab/lab.ts";
import { seed } from "./seed.ts";

/** Every instant, in one run. */
const isFull = process.env["LEVEE_E2E_FULL"] === "1";
// Some hundreds of short calls on a machine that may be busy.
setDefaultTimeout(isFull ? 2_400_000 : 480_000);

const shim = join(import.meta.dir, "../../dist/levee-shim");
const names = { box: `levee-bk-${process.pid}`, host: `levee-bh-${process.pid}` };
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

interface Killed {
  readonly plugin: string;
  readonly conf: () => Readonly<Record<string, unknown>>;
  /** Arguments of `ip`. What they make must be there after every DEL, as it was. */
  readonly before: readonly string[];
  /** Links that the plugin makes and no DEL removes. */
  readonly lasting?: readonly string[];
  /** Every so manieth instant is tried; the seed says which ones. */
  readonly stride: number;
  /** Fewer calls into the kernel than this would mean that the plugin did nothing. */
  readonly instantsMin: number;
}

const ifname = "eth0";
const inHost = `-n ${names.host}`;
const ipam = (): object => ({
  type: "host-local",
  dataDir: join(folder, "ipam"),
  ranges: [[{ subnet: "10.93.0.0/24" }]],
});

const bridge: Killed = {
  plugin: "bridge",
  conf: () => ({ bridge: "lvbk0", isGateway: true, mtu: 1400, ipam: ipam() }),
  before: [],
  lasting: ["lvbk0"],
  stride: 2,
  instantsMin: 60,
};
const others: readonly Killed[] = [
  {
    plugin: "macvlan",
    conf: () => ({ master: "up0", mtu: 1400, ipam: ipam() }),
    before: [`${inHost} link add up0 type veth peer name up1`, `${inHost} link set up0 up`],
    stride: 5,
    instantsMin: 60,
  },
  { plugin: "ptp", conf: () => ({ mtu: 1400, ipam: ipam() }), before: [], stride: 5, instantsMin: 60 },
  {
    plugin: "host-device",
    conf: () => ({ device: "dev0", ipam: ipam() }),
    before: [`${inHost} link add dev0 type veth peer name peer0`],
    stride: 5,
    instantsMin: 60,
  },
  {
    plugin: "tuning",
    conf: () => ({
      ...{ mac: "02:00:00:00:00:01", mtu: 1300, allmulti: true, dataDir: join(folder, "tuning") },
      prevResult: { cniVersion: "1.0.0", interfaces: [{ name: ifname, sandbox: `/run/netns/${names.box}` }] },
    }),
    before: [`-n ${names.box} link add ${ifname} address 02:00:00:00:00:e0 type veth peer name other`],
    stride: 2,
    instantsMin: 20,
  },
];

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** The built-in plugin as a program, `through` another command; or Debian's program. */
function call(of: Killed, command: "ADD" | "DEL", through: readonly string[] = [], program?: string): Ended {
  const conf = { cniVersion: "1.0.0", name: "n", type: of.plugin, ...of.conf() };
  const env = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: "c1",
    CNI_NETNS: `/run/netns/${names.box}`,
    CNI_IFNAME: ifname,
    CNI_PATH: distributionPlugins,
    PATH: process.env["PATH"] ?? "",
  };
  const own = program === undefined ? [shim, "plugin", of.plugin, "1.1.1"] : [program];
  const args = ["netns", "exec", names.host, ...through, ...own];
  const { status, stdout, stderr } = spawnSync("ip", args, { env, input: JSON.stringify(conf), encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

const isSkipped = (name: string): boolean => ["execve", "exit_group", "brk", "rt_sigaction"].includes(name);

/** The same of a run with its children: each name as often as the process with most calls of it has. */
function instantsOfAll(of: Killed): readonly (readonly [name: string, count: number])[] {
  const log = join(folder, "strace");
  expect(call(of, "DEL", ["strace", "-f", "-o", log])).toMatchObject({ status: 0 });
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
function instantsOf(of: Killed, command: "ADD" | "DEL"): readonly (readonly [name: string, count: number])[] {
  const log = join(folder, "strace");
  expect(call(of, command, ["strace", "-o", log])).toMatchObject({ status: 0 });
  const counts = new Map<string, number>();
  const all = readFileSync(log, "utf8")
    .split("\n")
    .flatMap((line) => /^([a-z_0-9]+)\(/u.exec(line)?.[1] ?? [])
    .map((name) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return [name, count] as const;
    })
    .filter(([name]) => !isSkipped(name));
  if (command === "ADD") expect(all.length).toBeGreaterThan(of.instantsMin);
  // As many runs of the tests as the stride has steps have all of them.
  const stride = isFull ? 1 : of.stride;
  return all.filter((_, index) => index % stride === seed % stride);
}

function killedAt(
  of: Killed,
  command: "ADD" | "DEL",
  [name, count]: readonly [string, number],
  options: readonly string[] = [],
): Ended {
  const inject = `inject=${name}:signal=SIGKILL:when=${count}`;
  return call(of, command, ["strace", ...options, "-o", "/dev/null", "-e", `trace=${name}`, "-e", inject]);
}

/** Leases and kept settings, and the links of both namespaces with what a plugin may change of them. */
function seen(of: Killed): readonly string[] {
  const files = (path: string): readonly string[] =>
    existsSync(join(folder, path)) ? readdirSync(join(folder, path)) : [];
  const links = (name: string): readonly string[] =>
    ip(["-n", name, "-o", "link", "show"])
      .split("\n")
      .map((line) => /^\d+: ([^:@]+)\S* <([^>]*)>.* mtu (\d+) .* link\/\S+ (\S+)/u.exec(line)?.slice(1) ?? [])
      .filter(([link = "lo"]) => link !== "lo" && of.lasting?.includes(link) !== true)
      .map(([link, flags = "", ...more]) => [name, link, flags.includes("ALLMULTI"), ...more].join(" "));
  return [
    ...files("ipam/n").filter((name) => /^\d/u.test(name)),
    ...files("tuning"),
    ...links(names.box).toSorted(),
    ...links(names.host).toSorted(),
  ];
}

function prepare(of: Killed): readonly string[] {
  for (const line of of.before) ip(line.split(" "));
  return seen(of);
}

/** A DEL of a link that is still the host's is an error of the program too. */
function deleted(of: Killed, wasThere: boolean): object {
  const mayFail = of.plugin === "host-device" && !wasThere;
  return { status: mayFail ? expect.any(Number) : 0 };
}

const isThere = (): boolean => ip(["-n", names.box, "-o", "link", "show"]).includes(`: ${ifname}`);

for (const of of [bridge, ...others]) {
  const program = `${distributionPlugins}/${of.plugin}`;

  test.skipIf(Bun.which("strace") === null || !existsSync(program))(
    `a built-in ${of.plugin} killed before any of its system calls leaves nothing that DEL does not remove (seed ${seed})`,
    () => {
      const before = prepare(of);
      const instants = instantsOf(of, "ADD");
      expect(call(of, "DEL")).toEqual({ status: 0, output: "" });
      let killed = 0;
      instants.forEach((instant, index) => {
        const { status } = killedAt(of, "ADD", instant);
        if (status !== 0) killed += 1;
        const wasThere = isThere();
        // The state is the program's own, so its DEL removes what a killed built-in left, and the other way round.
        if (index % 2 === 1) expect(call(of, "DEL", [], program)).toMatchObject(deleted(of, wasThere));
        // Only the built-in tuning removes a file that was cut off.
        if (index % 2 === 0 || of.plugin === "tuning")
          expect([instant, call(of, "DEL")]).toMatchObject([instant, deleted(of, wasThere)]);
        expect([instant, seen(of)]).toEqual([instant, before]);
      });
      expect(killed).toBeGreaterThan(instants.length * 0.8);
      // The address is free again, and the next ADD has nothing to wait for.
      expect(call(of, "ADD")).toMatchObject({ status: 0 });
      expect(seen(of)).not.toEqual(before);
      expect(call(of, "DEL")).toMatchObject({ status: 0 });
    },
  );

  test.skipIf(Bun.which("strace") === null)(
    `a DEL of a built-in ${of.plugin} killed before any of its system calls is finished by the next one (seed ${seed})`,
    () => {
      const before = prepare(of);
      expect(call(of, "ADD")).toMatchObject({ status: 0 });
      for (const instant of instantsOf(of, "DEL")) {
        expect(call(of, "ADD")).toMatchObject({ status: 0 });
        killedAt(of, "DEL", instant);
        const wasThere = isThere();
        expect([instant, call(of, "DEL")]).toMatchObject([instant, deleted(of, wasThere)]);
        expect([instant, seen(of)]).toEqual([instant, before]);
      }
    },
  );
}

test.skipIf(Bun.which("strace") === null)(
  "a DEL whose child is killed before any of its system calls deletes the link itself, or the next DEL does",
  () => {
    expect(call(bridge, "ADD")).toMatchObject({ status: 0 });
    const instants = instantsOfAll(bridge);
    // Only the child ends with its parent, and closes what it has of it.
    const ofChild = instants.filter(([name]) => ["prctl", "close_range", "dup2"].includes(name));
    expect(ofChild.length).toBeGreaterThan(4);
    for (const instant of instants) {
      expect(call(bridge, "ADD")).toMatchObject({ status: 0 });
      const { status } = killedAt(bridge, "DEL", instant, ["-f"]);
      if (ofChild.includes(instant)) expect([instant, status, seen(bridge)]).toEqual([instant, 0, []]);
      expect([instant, call(bridge, "DEL"), seen(bridge)]).toEqual([instant, { status: 0, output: "" }, []]);
    }
  },
);
