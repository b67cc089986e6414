import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { encodeFrame } from "../../src/wire/frame.ts";
import { encodeRun, type RunOrder } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { encodeScratch, readScratchPath } from "../../src/wire/scratch-netns.ts";
import { eventually, isAlive } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();
let hand: ShimProcess;

async function connect(through: readonly string[] = []): Promise<Peer> {
  hand = sandbox.resident(through);
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  return peer;
}

/** A run in a scratch namespace of a plugin that writes down where it is. */
function scratch(body: string, changes: Partial<RunOrder> = {}): RunOrder {
  const plugin = sandbox.plugin("canary", `echo "$CNI_NETNS" > "$DIR/netns"; readlink "$CNI_NETNS"; ${body}`);
  const order = sandbox.run(plugin, { scratchNetns: true, ...changes });
  return { ...order, env: { ...order.env, CNI_NETNS: "" } };
}

/** The process that holds the namespace, by the path the plugin was given. */
async function holder(): Promise<number> {
  await eventually(() => sandbox.read("netns").endsWith("\n"), "the plugin was given a namespace");
  return Number(/^\/proc\/(\d+)\/ns\/net\n$/.exec(sandbox.read("netns"))?.[1]);
}

test("a plugin runs in a namespace of its own, which goes when it has ended", async () => {
  const peer = await connect();
  peer.send(encodeRun(1, scratch('nsenter --net="$CNI_NETNS" ip -o link')));
  const outcome = readOutcome(await peer.expect("OUTCOME"));
  const [inode, ...links] = Buffer.from(outcome.stdout).toString().trim().split("\n");
  expect(inode).toMatch(/^net:\[\d+\]$/);
  expect(inode).not.toBe(readlinkSync("/proc/self/ns/net"));
  expect(links.map((line) => /^\d+: ([^:@]+)/.exec(line)?.[1])).toContain("lo");
  const pid = await holder();
  await eventually(() => !existsSync(`/proc/${pid}`), "the holder is gone, no zombie");
  expect(readlinkSync(`/proc/${hand.pid}/ns/net`)).toBe(readlinkSync("/proc/self/ns/net"));
});

const loopback = "/usr/lib/cni/loopback";

test.skipIf(!existsSync(loopback))("the real loopback plugin works in it", async () => {
  const peer = await connect();
  const order = scratch("");
  const env = { ...order.env, CNI_IFNAME: "lo", CNI_PATH: "/usr/lib/cni" };
  const stdin = '{"cniVersion":"1.0.0","name":"canary","type":"loopback"}';
  peer.send(encodeRun(1, { ...order, plugin: "loopback" as never, env, stdin }));
  const outcome = readOutcome(await peer.expect("OUTCOME"));
  expect({ exitCode: outcome.exitCode, stderr: outcome.stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(Buffer.from(outcome.stdout).toString()).toContain("127.0.0.1/8");
});

test("KILL, the time limit and a plugin that fails let it go as well", async () => {
  const peer = await connect();
  peer.send(encodeRun(1, scratch("sleep 60")));
  const killed = await holder();
  peer.send(encodeFrame("KILL", [["step", 1]]));
  expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ failure: "killed" });
  await eventually(() => !isAlive(killed), "the holder of a killed run is gone");
  for (const [body, timeoutMs] of [
    ["exit 1", 5_000],
    ["sleep 60", 300],
  ] as const) {
    peer.send(encodeRun(2, scratch(body, { timeoutMs })));
    await peer.expect("OUTCOME");
    const pid = await holder();
    await eventually(() => !isAlive(pid), "the holder is gone");
  }
});

test("a hand that is killed takes the namespace with it", async () => {
  const peer = await connect();
  peer.send(encodeRun(1, scratch("sleep 60")));
  const pid = await holder();
  hand.kill();
  await hand.exited;
  await eventually(() => !isAlive(pid), "the holder is gone");
});

/** Starts a program for which there is no `close_range`, as on kernels before 5.9: a seccomp filter answers ENOSYS. */
const onOldKernel = [
  "perl",
  "-e",
  `my $f = pack("SCCL" x 4, 0x20, 0, 0, 0, 0x15, 0, 1, 436, 0x06, 0, 0, 0x50026, 0x06, 0, 0, 0x7fff0000);
   my $p = pack("Sx6P", 4, $f);
   syscall(157, 38, 1, 0, 0, 0) == 0 && syscall(157, 22, 2, $p, 0, 0) == 0 or die "no filter: $!";
   exec @ARGV;`,
];

test.skipIf(process.arch !== "x64").each([
  ["this kernel", []],
  ["an old kernel", onOldKernel],
])("the holder has nothing open of the hand's, on %s", async (_where, through) => {
  const peer = await connect(through);
  peer.send(encodeRun(1, scratch("sleep 60")));
  const pid = await holder();
  await eventually(() => openFiles(pid) === "0 1 2", `the holder has closed the rest, not ${openFiles(pid)}`);
});

test("a holder that is killed early leaves the run to its plugin", async () => {
  const peer = await connect();
  peer.send(encodeRun(1, scratch("sleep 0.3")));
  const pid = await holder();
  process.kill(pid, "SIGKILL");
  expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ exitCode: 0 });
});

test("eight at once are eight different ones", async () => {
  const peer = await connect();
  const order = scratch("sleep 0.1");
  for (let step = 1; step <= 8; step += 1) peer.send(encodeRun(step, order));
  const seen = new Set<string>();
  for (let step = 1; step <= 8; step += 1)
    seen.add(Buffer.from(readOutcome(await peer.expect("OUTCOME")).stdout).toString());
  expect(seen.size).toBe(8);
  await eventually(() => childrenOf(hand.pid) === "", "all holders are gone");
});

function openFiles(pid: number): string {
  return readdirSync(`/proc/${pid}/fd`).join(" ");
}

function childrenOf(pid: number): string {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
}

test("refused for a call, and together with another namespace", async () => {
  const peer = await connect();
  const order = scratch("true");
  peer.send(encodeRun(1, { ...order, env: { ...order.env, CNI_NETNS: "/run/netns/x" } }));
  expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ failure: "refused" });
  sandbox.call("ADD");
  const call = await daemon.accept();
  await call.begin();
  call.send(encodeRun(1, order));
  expect(readOutcome(await call.expect("OUTCOME"))).toMatchObject({
    failure: "refused",
    message: expect.stringContaining("only the resident hand"),
  });
  await call.finish(1);
  expect(sandbox.read("netns")).toBe("");
});

describe("SCRATCH", () => {
  test("makes a namespace in which several plugins run, until KILL of its step", async () => {
    const peer = await connect();
    const { path, pid } = await kept(peer, 1);
    const plugin = sandbox.plugin("link", 'readlink "$CNI_NETNS"; nsenter --net="$CNI_NETNS" ip link set lo up');
    const order = sandbox.run(plugin);
    const seen: string[] = [];
    for (const step of [2, 3]) {
      peer.send(encodeRun(step, { ...order, env: { ...order.env, CNI_NETNS: path } }));
      const { exitCode, stdout } = readOutcome(await peer.expect("OUTCOME"));
      expect(exitCode).toBe(0);
      seen.push(Buffer.from(stdout).toString());
    }
    expect(seen[0]).toMatch(/^net:\[\d+\]\n$/);
    expect(seen[1]).toBe(seen[0] ?? "");
    peer.send(encodeFrame("KILL", [["step", 1]]));
    await eventually(() => !existsSync(`/proc/${pid}`), "the holder is gone, no zombie");
  });

  test("keeps one at a time, and for no longer than asked", async () => {
    const peer = await connect();
    const { pid } = await kept(peer, 1, 700);
    peer.send(encodeScratch(2, 60_000));
    expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ failure: "refused", errno: 11 });
    await eventually(() => !existsSync(`/proc/${pid}`), "its time is over");
    await kept(peer, 3);
  });

  test("ends when the daemon is lost and when the hand is killed", async () => {
    const peer = await connect();
    const { pid } = await kept(peer, 1);
    peer.destroy();
    await eventually(() => !existsSync(`/proc/${pid}`), "the namespace of the lost daemon is gone");
    const next = await daemon.accept();
    await next.expect("RESIDENT");
    next.welcome(60_000);
    const second = await kept(next, 1);
    hand.kill();
    await eventually(() => !isAlive(second.pid), "the namespace of the killed hand is gone");
  });
});

async function kept(peer: Peer, step: number, limitMs = 60_000): Promise<{ path: string; pid: number }> {
  peer.send(encodeScratch(step, limitMs));
  const { path } = readScratchPath(await peer.expect("OUTCOME"));
  return { path, pid: Number(/^\/proc\/(\d+)\/ns\/net$/.exec(path)?.[1]) };
}
