import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { bytesFields } from "../../src/wire/frame.ts";
import { encodeReap, encodeRun, encodeStat, readCall, type HandIdentity } from "../../src/wire/messages.ts";
import { readOutcome, type Outcome } from "../../src/wire/outcome.ts";
import { canMakeLeaf, escaping, leavesOf } from "./leaf.ts";
import { eventually, isAlive } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

async function hand(containerId: string): Promise<{ shim: ShimProcess; peer: Peer; identity: HandIdentity }> {
  const shim = sandbox.call("ADD", {}, { CNI_CONTAINERID: containerId });
  const peer = await daemon.accept();
  const call = readCall(await peer.begin());
  return { shim, peer, identity: call.hand };
}

async function reap(peer: Peer, lost: HandIdentity, timeoutMs = 2_000): Promise<Outcome> {
  peer.send(encodeReap(9, lost, timeoutMs));
  return readOutcome(await peer.expect("OUTCOME"));
}

test("a killed shim takes its plugin with it, and another hand empties the rest of its session", async () => {
  const lost = await hand("c1");
  // The grandchild has a process group of its own and ignores what can be ignored: only its session gives it away.
  const stubborn = 'trap "" TERM HUP INT; echo $$ > "$DIR/grandchild"; while :; do sleep 1; done';
  const plugin = sandbox.plugin(
    "p",
    `export DIR\nperl -e 'setpgrp(0,0); exec @ARGV' sh -c '${stubborn}' &\necho $$ > "$DIR/plugin"\nsleep 30`,
  );
  lost.peer.send(encodeRun(1, sandbox.run(plugin)));
  const [parent, grandchild] = [await sandbox.pidIn("plugin"), await sandbox.pidIn("grandchild")];

  const other = await hand("c2");
  expect(await reap(other.peer, lost.identity)).toMatchObject({ alive: true, processes: 0 });
  expect(isAlive(grandchild)).toBe(true);

  lost.shim.kill();
  await lost.shim.exited;
  await eventually(() => !isAlive(parent), "the plugin died with its shim", 500);
  expect(isAlive(grandchild)).toBe(true);
  const outcome = await reap(other.peer, lost.identity);
  expect(outcome).toMatchObject({ alive: false, failure: undefined });
  expect(outcome.processes).toBeGreaterThanOrEqual(1);
  expect(isAlive(grandchild)).toBe(false);
  expect(await reap(other.peer, lost.identity)).toMatchObject({ alive: false, processes: 0, failure: undefined });
});

test.skipIf(!canMakeLeaf())(
  "another hand also ends a child with a session of its own, and removes its cgroup",
  async () => {
    const lost = await hand("c1");
    lost.peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", `${escaping}\nsleep 30`))));
    const child = await sandbox.pidIn("escaped");
    expect(leavesOf(lost.identity).length).toBe(1);
    lost.shim.kill();
    await lost.shim.exited;
    const other = await hand("c2");
    expect(await reap(other.peer, lost.identity)).toMatchObject({ alive: false, failure: undefined });
    expect(isAlive(child)).toBe(false);
    expect(leavesOf(lost.identity)).toEqual([]);
  },
);

test("a process number that another process has now is not taken for the lost shim", async () => {
  const { peer, identity } = await hand("c1");
  const other = await hand("c2");
  const earlier = { ...other.identity, pidStart: other.identity.pidStart - 1 };
  // A process with this number now could only get it after the old session was empty. It is left alone.
  expect(await reap(peer, earlier)).toMatchObject({ alive: false, processes: 0, failure: undefined });
  expect(isAlive(other.shim.pid)).toBe(true);
  // Asked about its own number, a hand never kills itself.
  expect(await reap(peer, identity)).toMatchObject({ alive: true });
  expect(await reap(peer, { ...identity, pidStart: identity.pidStart - 1 })).toMatchObject({
    alive: false,
    processes: 0,
  });
});

test("STAT answers for each path in order, and says which network namespace it is", async () => {
  const netns = sandbox.netns("stat");
  const { peer } = await hand("c1");
  peer.send(encodeStat(3, [netns, "/nowhere/at/all", "/proc/self/exe/x", "/"]));
  const { found } = readOutcome(await peer.expect("OUTCOME"));
  const facts = (path: string): { device: bigint; inode: bigint } => {
    const { dev, ino } = statSync(path, { bigint: true });
    return { device: dev, inode: ino };
  };
  const [first, ...others] = found;
  const other = { ...facts("/"), isNetns: false, cookie: undefined, ctimeNs: undefined };
  expect(others).toEqual([undefined, undefined, other]);
  expect(first).toMatchObject({ ...facts(netns), isNetns: true });
  // This machine's kernel tells cookies.
  expect(first?.cookie).toBeGreaterThan(1n);
});

test("STAT answers a daemon of version 3 as that one understands it, and waits for no FIFO", async () => {
  const fifo = sandbox.path("fifo");
  expect(spawnSync("mkfifo", [fifo]).status).toBe(0);
  sandbox.call("ADD", {}, { CNI_CONTAINERID: "c1" });
  const peer = await daemon.accept();
  await peer.begin(60_000, 3);
  peer.send(encodeStat(3, [sandbox.netns("old"), fifo]));
  const outcome = await peer.expect("OUTCOME");
  expect(bytesFields(outcome, "found").map((found) => found.length)).toEqual([17, 17]);
});
