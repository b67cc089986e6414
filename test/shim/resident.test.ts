import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import type { NetnsPath, PluginType } from "../../src/base/brand.ts";
import { numberField } from "../../src/wire/frame.ts";
import {
  encodeReap,
  encodeRoutes,
  encodeRun,
  encodeStat,
  readHandIdentity,
  type RunOrder,
} from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { eventually, ipIn, isAlive, Sandbox } from "./sandbox.ts";
import { ScriptedDaemon, type Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";

let sandbox: Sandbox;
let daemon: ScriptedDaemon;
let hand: ShimProcess;

beforeEach(async () => {
  sandbox = new Sandbox();
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
});

afterEach(async () => {
  hand.signal("SIGTERM");
  await hand.exited;
  await daemon.kill();
  sandbox.clean();
});

async function connect(): Promise<Peer> {
  hand = sandbox.resident();
  const peer = await daemon.accept();
  const identity = readHandIdentity(await peer.expect("RESIDENT"));
  expect(identity.pid).toBe(hand.pid);
  peer.welcome(60_000);
  return peer;
}

/** By a plugin that is built in. */
function deleteOfPair(netns: NetnsPath): RunOrder {
  ipIn(netns, "link", "add", "eth0", "type", "veth", "peer", "name", "other");
  const { env, ...rest } = sandbox.run("bridge" as PluginType);
  const stdin = '{"cniVersion":"1.0.0","name":"n","type":"bridge"}';
  return { ...rest, env: { ...env, CNI_COMMAND: "DEL", CNI_NETNS: netns }, stdin, builtins: ["bridge any 1.9.1"] };
}

test("runs plugins for any container and namespace, and obeys ROUTES, STAT and REAP", async () => {
  const peer = await connect();
  const netns = sandbox.netns("resident");
  const order = sandbox.run(sandbox.plugin("p", "echo $CNI_NETNS"));
  peer.send(encodeRun(1, { ...order, env: { ...order.env, CNI_CONTAINERID: "other", CNI_NETNS: netns } }));
  const outcome = readOutcome(await peer.expect("OUTCOME"));
  expect(Buffer.from(outcome.stdout).toString()).toBe(`${netns}\n`);
  ipIn(netns, "link", "set", "lo", "up");
  peer.send(encodeRoutes(2, netns, [{ op: "delete-default", family: 4, ifname: "lo" as never }]));
  expect(readOutcome(await peer.expect("OUTCOME")).failure).toBeUndefined();
  peer.send(encodeStat(3, [netns]));
  expect(readOutcome(await peer.expect("OUTCOME")).found[0]).toBeDefined();
  peer.send(encodeReap(4, { pid: 4_000_000, pidStart: 1, pidNamespace: 0 }, 500));
  expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ alive: false, processes: 0 });
});

test("runs eight plugins at once and refuses the ninth for now", async () => {
  const peer = await connect();
  const slow = sandbox.plugin("slow", "sleep 0.4");
  const started = performance.now();
  for (let step = 1; step <= 9; step += 1) peer.send(encodeRun(step, sandbox.run(slow)));
  const ended = new Map<number | undefined, string | number | undefined>();
  for (let count = 0; count < 9; count += 1) {
    const frame = await peer.expect("OUTCOME");
    const outcome = readOutcome(frame);
    const busy = outcome.errno === 11 ? " for now" : "";
    ended.set(numberField(frame, "step"), outcome.failure === undefined ? outcome.exitCode : outcome.failure + busy);
  }
  expect(performance.now() - started).toBeLessThan(1_500);
  expect(ended.get(9)).toBe("refused for now");
  expect([...ended.values()].filter((value) => value === 0)).toHaveLength(8);
});

test("connects again when the daemon comes back, and tells it once", async () => {
  await connect();
  await daemon.kill();
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  const again = await daemon.accept();
  await again.expect("RESIDENT");
  again.welcome(60_000);
  again.send(encodeRun(1, sandbox.run(sandbox.plugin("p", "echo again"))));
  expect(readOutcome(await again.expect("OUTCOME")).exitCode).toBe(0);
  hand.signal("SIGTERM");
  const { code, stderr } = await hand.exited;
  expect(code).toBe(0);
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { time: string; message: string });
  expect(lines.map((line) => line.message)).toEqual([
    "Connected to the daemon",
    "Not connected to the daemon",
    "Connected to the daemon",
    "Stopped",
  ]);
  expect(Math.abs(Date.parse(lines[0]?.time ?? "") - Date.now())).toBeLessThan(60_000);
});

test("lets its runs end before it comes back to a new daemon", async () => {
  const peer = await connect();
  peer.send(
    encodeRun(1, sandbox.run(sandbox.plugin("slow", 'echo $$ > "$DIR/pid"; sleep 0.6; echo done > "$DIR/done"'))),
  );
  await sandbox.pidIn("pid");
  await daemon.kill();
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  await (await daemon.accept()).expect("RESIDENT");
  expect(sandbox.read("done")).toBe("done\n");
});

test("waits for a daemon that does not listen yet", async () => {
  await daemon.kill();
  hand = sandbox.resident();
  await new Promise((resolve) => setTimeout(resolve, 150));
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  await (await daemon.accept()).expect("RESIDENT");
});

test("SIGTERM lets a running plugin end and tells its outcome", async () => {
  const peer = await connect();
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", 'echo $$ > "$DIR/pid"; sleep 0.3; echo ended'))));
  await sandbox.pidIn("pid");
  hand.signal("SIGTERM");
  expect(Buffer.from(readOutcome(await peer.expect("OUTCOME")).stdout).toString()).toBe("ended\n");
  expect((await hand.exited).code).toBe(0);
});

test("SIGTERM kills a plugin that does not end within five seconds, with its children", async () => {
  const peer = await connect();
  peer.send(
    encodeRun(
      1,
      sandbox.run(sandbox.plugin("p", 'sleep 60 & echo $! > "$DIR/child"; sleep 60'), { timeoutMs: 60_000 }),
    ),
  );
  const child = await sandbox.pidIn("child");
  const started = performance.now();
  hand.signal("SIGTERM");
  expect((await hand.exited).code).toBe(0);
  expect(performance.now() - started).toBeGreaterThan(4_500);
  expect(performance.now() - started).toBeLessThan(6_500);
  expect(isAlive(child)).toBe(false);
}, 10_000);

test("collects orphans, so that no zombie stays", async () => {
  const peer = await connect();
  const plugin = sandbox.plugin(
    "p",
    '(setsid sh -c \'echo $$ > "$0"; sleep 0.2\' "$DIR/orphan" >/dev/null 2>&1 &) ; exit 0',
  );
  peer.send(encodeRun(1, sandbox.run(plugin)));
  expect(readOutcome(await peer.expect("OUTCOME")).exitCode).toBe(0);
  const orphan = await sandbox.pidIn("orphan");
  const parentOf = (pid: number): string =>
    readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] ?? "";
  expect(parentOf(orphan)).toBe(String(hand.pid));
  await eventually(() => !existsSync(`/proc/${orphan}`), "the orphan is gone entirely");
});

const ownCgroup = `/sys/fs/cgroup/memory/levee-shim-test-${process.pid}-resident`;

test.skipIf(!existsSync("/sys/fs/cgroup/memory/memory.limit_in_bytes"))(
  "plugins run in a child cgroup with a limit of their own, which goes with the hand",
  async () => {
    mkdirSync(ownCgroup);
    const enter = ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', ownCgroup];
    const limit = 64 * 1024 * 1024;
    const options = ["--resident", "--socket-dir", sandbox.socketDir, "--delegate-memory", String(limit)];
    hand = sandbox.start(options, "", { PATH: process.env["PATH"] }, enter);
    const peer = await daemon.accept();
    await peer.expect("RESIDENT");
    peer.welcome(60_000);
    expect(readFileSync(`${ownCgroup}/levee-delegates/memory.limit_in_bytes`, "utf8").trim()).toBe(String(limit));
    peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", "grep memory /proc/self/cgroup"))));
    const outcome = readOutcome(await peer.expect("OUTCOME"));
    expect(Buffer.from(outcome.stdout).toString().trim()).toEndWith(`-resident/levee-delegates`);
    expect(outcome.cgroupLimit).toBe(limit);
    // A DEL has a child that waits for the kernel. Here it ends before the outcome comes.
    peer.send(encodeRun(2, deleteOfPair(sandbox.netns("pair"))));
    expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ exitCode: 0, builtIn: "1.9.1" });
    expect(readFileSync(`${ownCgroup}/levee-delegates/cgroup.procs`, "utf8")).toBe("");
    hand.signal("SIGTERM");
    await hand.exited;
    expect(existsSync(`${ownCgroup}/levee-delegates`)).toBe(false);
    rmdirSync(ownCgroup);
  },
);

test("a cgroup that cannot be made is said once, and plugins run all the same", async () => {
  // A root folder with the machine's /proc and nothing where cgroups are: what a pod sees that lacks the mount.
  const script = 'mount --bind / /mnt && mount -t tmpfs none /mnt/sys && mount --rbind /proc /mnt/proc && exec "$@"';
  const through = ["unshare", "--mount", "/bin/sh", "-c", script, "sh"];
  const options = ["--resident", "--root", "/mnt", "--socket-dir", sandbox.socketDir, "--delegate-memory", "1000000"];
  hand = sandbox.start(options, "", {}, through);
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", "echo ran"))));
  expect(Buffer.from(readOutcome(await peer.expect("OUTCOME")).stdout).toString()).toBe("ran\n");
  hand.signal("SIGTERM");
  const { stderr } = await hand.exited;
  expect(stderr.match(/Cannot find the memory cgroup/gu)).toHaveLength(1);
});

test("--root looks up socket, plugins and everything else inside it", async () => {
  const inside = (path: string): string => `${sandbox.root}/root${path}`;
  for (const folder of ["/run/levee", "/bin", "/proc"]) mkdirSync(inside(folder), { recursive: true, mode: 0o700 });
  copyFileSync("/bin/true", inside("/bin/plugin"));
  await daemon.kill();
  daemon = await ScriptedDaemon.listen(inside("/run/levee"));
  hand = sandbox.start(["--resident", "--root", `${sandbox.root}/root`], "", {});
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  const order = sandbox.run("plugin" as PluginType);
  peer.send(encodeRun(1, { ...order, env: { ...order.env, CNI_PATH: "/bin" } }));
  // The copy finds no dynamic loader in there, which shows where it was started.
  expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({
    failure: "exec",
    errno: 2,
    message: "Cannot run /bin/plugin: No such file or directory (errno 2)",
  });
  // Without a /proc nothing about processes is claimed.
  peer.send(encodeReap(2, { pid: 4_000_000, pidStart: 1, pidNamespace: 0 }, 500));
  expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ failure: "refused", alive: false });
});
