import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { NetnsPath, PluginType } from "../../src/base/brand.ts";
import { builtinPlugins } from "../../src/cni/builtin/builtin-plugins.ts";
import { upstreamVersion } from "../../src/cni/builtin/upstream-program.ts";
import { encodeRun, type RunOrder } from "../../src/wire/messages.ts";
import { readOutcome, type Outcome } from "../../src/wire/outcome.ts";
import { eventually, ipIn, isAlive } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();
let peer: Peer;
let shim: ShimProcess;
let netns: NetnsPath;

beforeEach(async () => {
  netns = sandbox.netns("own");
  shim = sandbox.call("ADD", {}, { CNI_NETNS: netns });
  peer = await daemon.accept();
  await peer.begin();
});

const absent = ["loopback absent 1.9.1", "host-local absent 1.9.1", "static absent 1.9.1"];
const loopback = "loopback" as PluginType;
const hostLocal = "host-local" as PluginType;

function order(plugin: PluginType, builtins: readonly string[], changes: Partial<RunOrder> = {}): RunOrder {
  const { env, ...rest } = sandbox.run(plugin);
  const stdin = JSON.stringify({ cniVersion: "1.0.0", name: "n", type: plugin });
  return { ...rest, env: { ...env, CNI_NETNS: netns }, stdin, builtins, ...changes };
}

async function run(plugin: PluginType, builtins: readonly string[], changes: Partial<RunOrder> = {}): Promise<Outcome> {
  peer.send(encodeRun(1, order(plugin, builtins, changes)));
  return readOutcome(await peer.expect("OUTCOME"));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}

test("where no program is, the built-in serves, and tells what it used", async () => {
  const outcome = await run(loopback, absent);
  expect(outcome).toMatchObject({ exitCode: 0, failure: undefined, builtIn: "1.9.1", programs: [], stderr: "" });
  expect(JSON.parse(text(outcome.stdout))).toMatchObject({ cniVersion: "1.0.0", interfaces: [{ name: "lo" }] });
  expect(ipIn(netns, "link", "show", "lo")).toContain(",UP");
  expect(outcome.wallUs).toBeGreaterThan(0);
  expect(outcome.maxRssKib).toBeGreaterThan(100);
});

test("without a word of the daemon no built-in serves, and nothing is told of programs", async () => {
  expect(await run(loopback, [])).toMatchObject({ failure: "missing", builtIn: undefined, notBuiltIn: undefined });
  sandbox.plugin("loopback", "echo program");
  expect(await run(loopback, [])).toMatchObject({ exitCode: 0, builtIn: undefined, programs: [] });
});

test("a program without a word runs and is described; with one, it is what the word says", async () => {
  sandbox.plugin("loopback", "echo program");
  const first = await run(loopback, absent);
  expect([text(first.stdout), first.builtIn, first.notBuiltIn]).toEqual(["program\n", undefined, undefined]);
  const { dev, ino, size, mtimeNs } = statSync(sandbox.path("bin/loopback"), { bigint: true });
  const identity = `${dev}:${ino}:${size}:${mtimeNs}`;
  expect(first.programs).toEqual([`loopback ${identity}\n`]);
  const left = await run(loopback, [`loopback ${identity} -`, ...absent]);
  expect([text(left.stdout), left.programs]).toEqual(["program\n", []]);
  expect(await run(loopback, [`loopback ${identity} 1.9.1`, ...absent])).toMatchObject({ builtIn: "1.9.1" });
  expect(await run(loopback, ["loopback any 1.9.1"])).toMatchObject({ builtIn: "1.9.1" });
  sandbox.plugin("loopback", "echo another");
  const replaced = await run(loopback, [`loopback ${identity} 1.9.1`, ...absent]);
  expect([text(replaced.stdout), replaced.builtIn, replaced.programs.length]).toEqual(["another\n", undefined, 1]);
});

test("the marks of a distribution's program say which one it is", async () => {
  for (const name of ["loopback", "host-local"]) copyFileSync(`/usr/lib/cni/${name}`, sandbox.path(`bin/${name}`));
  const { programs } = await run(loopback, absent);
  const [first = "", ...marks] = (programs[0] ?? "").split("\n");
  expect(first).toMatch(/^loopback \d+:\d+:\d+:\d+$/u);
  expect(marks).toContain("path\tgithub.com/containernetworking/plugins/plugins/main/loopback");
  if (marks.includes("go\tgo1.19.8")) expect(upstreamVersion("loopback", marks.join("\n"))).toBe("1.1.1");
});

describe("a configuration that the built-in does not know", () => {
  const stdin = JSON.stringify({ cniVersion: "1.0.0", name: "n", type: "loopback", colour: "red" });

  test("goes to the program within the same order", async () => {
    sandbox.plugin("loopback", "cat");
    const outcome = await run(loopback, ["loopback any 1.9.1"], { stdin });
    expect([text(outcome.stdout), outcome.exitCode, outcome.builtIn]).toEqual([stdin, 0, undefined]);
    expect(outcome.notBuiltIn).toContain("colour");
  });

  test("is a missing plugin where no program is, and both reasons are told", async () => {
    const outcome = await run(loopback, absent, { stdin });
    expect(outcome).toMatchObject({ failure: "missing", errno: 2, builtIn: undefined });
    expect(outcome.message).toContain("and the built-in plugin does not serve it: the key colour");
  });

  test("a plugin, a verb or a version that is not built in goes to the program too", async () => {
    for (const name of ["portmap", "loopback"]) sandbox.plugin(name, "echo program");
    for (const [name, word, command] of [
      ["portmap", "portmap any 1.9.1", "ADD"],
      ["loopback", "loopback any 1.9.1", "VERIFY"],
      ["loopback", "loopback any 0.8.0", "ADD"],
    ] as const) {
      const { env } = order(loopback, []);
      const outcome = await run(name as PluginType, [word], { env: { ...env, CNI_COMMAND: command } });
      expect([text(outcome.stdout), outcome.notBuiltIn]).toEqual([
        "program\n",
        expect.stringContaining("built in") as string,
      ]);
    }
  });
});

test("a plugin whose IPAM is a program of its own, or of another version, runs as a program", async () => {
  sandbox.plugin("bridge", "echo program");
  sandbox.plugin("host-local", "echo ipam");
  const ipam = { type: "host-local", ranges: [[{ subnet: "10.77.0.0/24" }]], dataDir: sandbox.path("leases") };
  const stdin = JSON.stringify({ cniVersion: "1.0.0", name: "n", type: "bridge", bridge: "levee-none", ipam });
  for (const words of [
    ["bridge any 1.9.1"],
    ["bridge any 1.9.1", "host-local any 1.1.1"],
    ["bridge any 1.9.1", "host-local absent 1.9.1"],
  ]) {
    const outcome = await run("bridge" as PluginType, words, { stdin });
    expect([text(outcome.stdout), outcome.builtIn]).toEqual(["program\n", undefined]);
    expect(outcome.notBuiltIn).toContain("host-local");
  }
  expect(existsSync(sandbox.path("leases"))).toBe(false);
});

test("a built-in for a missing program does not call a host-local of another version", async () => {
  sandbox.plugin("host-local", "echo ipam");
  const ipam = { type: "host-local", ranges: [[{ subnet: "10.77.0.0/24" }]] };
  const stdin = JSON.stringify({ cniVersion: "1.0.0", name: "n", type: "bridge", ipam });
  const { dev, ino, size, mtimeNs } = statSync(sandbox.path("bin/host-local"), { bigint: true });
  const words = ["bridge absent 1.9.1", `host-local ${dev}:${ino}:${size}:${mtimeNs} 1.1.1`];
  const outcome = await run("bridge" as PluginType, words, { stdin });
  expect(outcome).toMatchObject({ failure: "missing", builtIn: undefined });
  expect(outcome.notBuiltIn).toContain("its IPAM plugin host-local");
});

describe("a run of a built-in takes at most 1.5 MiB", () => {
  const up = `lvm${process.pid}`;
  const master = { master: up };
  const addresses = (): object => ({
    ipam: { type: "host-local", ranges: [[{ subnet: "10.77.0.0/24" }]], dataDir: sandbox.path("leases") },
  });
  const cases: readonly (readonly [string, () => object])[] = [
    ["bridge", () => ({ bridge: `${up}b`, ...addresses() })],
    ["macvlan", () => ({ ...master, ...addresses() })],
    ["ipvlan", () => ({ ...master, ...addresses() })],
    ["vlan", () => ({ ...master, vlanId: 5, ...addresses() })],
    ["ptp", addresses],
    ["host-device", () => ({ device: up, ...addresses() })],
    ["loopback", () => ({})],
    ["tuning", () => ({ mtu: 1400, dataDir: sandbox.path("tuning"), prevResult: { interfaces: [{ name: "eth0" }] } })],
    ["host-local", addresses],
    ["static", () => ({ ipam: { type: "static", addresses: [{ address: "10.77.0.9/24" }] } })],
  ];
  // Not every kernel has these links. Without them the ADD fails, and takes as much.
  const mayFail = ["ipvlan", "vlan"];

  beforeEach(() => {
    spawnSync("ip", ["link", "add", up, "up", "type", "veth", "peer", "name", `${up}p`]);
  });

  afterEach(() => {
    for (const link of [up, `${up}b`]) spawnSync("ip", ["link", "delete", link]);
  });

  test("these are all built-ins", () => {
    expect(cases.map(([name]) => name).toSorted()).toEqual(builtinPlugins.toSorted());
  });

  test.each(cases)("%s", async (name, conf) => {
    const plugin = name as PluginType;
    const words = builtinPlugins.map((each) => `${each} any 1.9.1`);
    const stdin = JSON.stringify({ cniVersion: "1.0.0", name: "n", type: name, ...conf() });
    if (name === "tuning") ipIn(netns, "link", "add", "eth0", "type", "veth", "peer", "name", "other");
    for (const command of ["ADD", "CHECK", "DEL"]) {
      const { env } = order(plugin, words);
      const outcome = await run(plugin, words, { stdin, env: { ...env, CNI_COMMAND: command } });
      expect(outcome).toMatchObject({ failure: undefined, builtIn: "1.9.1" });
      // This CHECK has no result of an ADD to look at, which is an error of the program too.
      if (command !== "CHECK" && !mayFail.includes(name)) expect(outcome.exitCode).toBe(0);
      expect(outcome.maxRssKib).toBeLessThanOrEqual(1536);
    }
  });
});

test("the outcome of a DEL comes when both ends of the pair are gone, and its process that still waits ends soon", async () => {
  const plugin = "bridge" as PluginType;
  const changes = { stdin: '{"cniVersion":"1.0.0","name":"n","type":"bridge"}' };
  const { env } = order(plugin, []);
  const host = `lvd${process.pid}`;
  for (let turn = 0; turn < 20; turn += 1) {
    ipIn(netns, "link", "add", "eth0", "up", "type", "veth", "peer", "name", host, "netns", "1");
    const outcome = await run(plugin, ["bridge any 1.9.1"], { ...changes, env: { ...env, CNI_COMMAND: "DEL" } });
    expect([existsSync(`/sys/class/net/${host}`), ipIn(netns, "link").includes("eth0")]).toEqual([false, false]);
    expect(outcome).toMatchObject({ exitCode: 0, builtIn: "1.9.1", stderr: "" });
  }
  const children = (): string => readFileSync(`/proc/${shim.pid}/task/${shim.pid}/children`, "utf8");
  await eventually(() => children() === "", "no process is left");
});

test("VERSION is answered by the built-in only where the word lets it", async () => {
  const { env } = order(loopback, []);
  const version = { env: { ...env, CNI_COMMAND: "VERSION" }, stdin: '{"cniVersion":"1.0.0"}' };
  const outcome = await run(loopback, absent, version);
  expect(outcome).toMatchObject({ exitCode: 0, builtIn: "1.9.1" });
  expect(JSON.parse(text(outcome.stdout))).toMatchObject({
    supportedVersions: expect.arrayContaining(["1.1.0"]) as unknown,
  });
});

describe("GC", () => {
  const gc = (plugin: PluginType): Partial<RunOrder> => {
    const attachments = { "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "eth0" }] };
    // Which address plugin the configuration names is no matter, as upstream's GC asks none.
    const conf = { cniVersion: "1.1.0", name: "n", type: plugin, ipam: { type: "dhcp" }, ...attachments };
    const env = { CNI_COMMAND: "GC", CNI_PATH: sandbox.path("bin") };
    return { env, stdin: JSON.stringify(conf) };
  };

  test.each(builtinPlugins)(
    "is answered with nothing where no program of %s is, as upstream's answers it",
    async (name) => {
      const plugin = name as PluginType;
      const outcome = await run(plugin, [`${name} absent 1.9.1`], gc(plugin));
      expect(outcome).toMatchObject({ exitCode: 0, failure: undefined, builtIn: "1.9.1", stderr: "" });
      expect(text(outcome.stdout)).toBe("");
    },
  );

  test("goes to the program where there is one, whatever the word says", async () => {
    sandbox.plugin("bridge", "echo $CNI_COMMAND");
    const outcome = await run("bridge" as PluginType, ["bridge any 1.9.1"], gc("bridge" as PluginType));
    expect([text(outcome.stdout), outcome.builtIn]).toEqual(["GC\n", undefined]);
    expect(outcome.notBuiltIn).toContain("where a program is");
  });

  test("of another plugin is a missing plugin", async () => {
    expect(await run("portmap" as PluginType, absent, gc("portmap" as PluginType))).toMatchObject({
      failure: "missing",
    });
  });
});

test("a word of another form breaks the protocol", async () => {
  peer.send(encodeRun(1, order(loopback, ["loopback always"])));
  const { code, stdout } = await shim.exited;
  expect(code).toBe(1);
  expect(stdout).toContain("Cannot read a word on a built-in plugin");
});

/** Another process holds host-local's lock, so the built-in waits for it as the program does. */
describe("a built-in that hangs", () => {
  let holder: ChildProcess;
  let stdin: string;

  beforeEach(async () => {
    const folder = sandbox.path("leases/n");
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/lock`, "");
    holder = spawn("flock", [`${folder}/lock`, "sh", "-c", `echo held >${sandbox.path("held")}; exec sleep 60`]);
    await eventually(() => sandbox.read("held") !== "", "the lock is held");
    const ipam = { type: "host-local", ranges: [[{ subnet: "10.77.0.0/24" }]], dataDir: sandbox.path("leases") };
    stdin = JSON.stringify({ cniVersion: "1.0.0", name: "n", type: "host-local", ipam });
  });

  function children(): readonly number[] {
    const ofShim = (pid: string): boolean => {
      try {
        return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(shim.pid);
      } catch {
        return false;
      }
    };
    return readdirSync("/proc")
      .filter((name) => /^\d+$/u.test(name) && ofShim(name))
      .map(Number);
  }

  function free(): void {
    holder.kill("SIGKILL");
  }

  test("is killed at its time limit, and leaves no lease", async () => {
    const outcome = await run(hostLocal, absent, { stdin, timeoutMs: 300 });
    expect(outcome).toMatchObject({ signal: 9, timedOut: true, builtIn: "1.9.1", failure: undefined });
    expect(readdirSync(sandbox.path("leases/n"))).toEqual(["lock"]);
    expect(children()).toEqual([]);
    free();
  });

  test("is killed by KILL", async () => {
    peer.send(encodeRun(7, order(hostLocal, absent, { stdin })));
    await eventually(() => children().length === 1, "the built-in runs");
    peer.order("KILL", [["step", 7]]);
    expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ failure: "killed", signal: 9, builtIn: "1.9.1" });
    free();
  });

  test("ends with its shim, with a group of its own in the shim's session and three pipes", async () => {
    peer.send(encodeRun(7, order(hostLocal, absent, { stdin })));
    await eventually(() => children().length === 1, "the built-in runs");
    const [child = 0] = children();
    await eventually(() => readdirSync(`/proc/${child}/fd`).length === 4, "it has its pipes and host-local's lock");
    // A process that has just been forked has the group of its shim.
    const [, , group, session] = (readFileSync(`/proc/${child}/stat`, "utf8").split(") ")[1] ?? "").split(" ");
    expect([group, session]).toEqual([String(child), String(shim.pid)]);
    shim.kill();
    await eventually(() => !isAlive(child), "the built-in is dead");
    free();
  });
});
