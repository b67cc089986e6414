import { expect, test } from "bun:test";
import { encodeRun, readCall } from "../../src/wire/messages.ts";
import { eventually, isAlive } from "./sandbox.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

/** Makes the shim the leader of a process group, as a shell with job control does: then it cannot lead a session. */
const asGroupLeader = ["perl", "-e", "setpgrp(0,0); exec @ARGV"];
const asSessionLeader = ["perl", "-e", "use POSIX; setsid(); exec @ARGV"];

test("a group leader lets a child lead the session and ends as it ends", async () => {
  const shim = sandbox.call("ADD", {}, {}, asGroupLeader);
  const peer = await daemon.accept();
  const { hand } = readCall(await peer.begin());
  expect(hand.pid).not.toBe(shim.pid);
  await peer.finish(1, "{}");
  expect(await shim.exited).toMatchObject({ code: 1, stdout: "{}" });
});

test("killing the group leader kills the child and its plugin", async () => {
  const shim = sandbox.call("ADD", {}, {}, asGroupLeader);
  const peer = await daemon.accept();
  const { hand } = readCall(await peer.begin());
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", 'echo $$ > "$DIR/pid"; exec sleep 30'))));
  const plugin = await sandbox.pidIn("pid");
  shim.kill();
  await eventually(() => !isAlive(hand.pid) && !isAlive(plugin), "both are dead", 1_000);
});

test("a session leader works itself", async () => {
  const shim = sandbox.call("ADD", {}, {}, asSessionLeader);
  const peer = await daemon.accept();
  expect(readCall(await peer.begin()).hand.pid).toBe(shim.pid);
  await peer.finish();
  expect((await shim.exited).code).toBe(0);
});

test("a resident hand that is a group leader passes SIGTERM on", async () => {
  const hand = sandbox.start(
    ["--resident", "--socket-dir", sandbox.socketDir],
    "",
    { PATH: process.env["PATH"] },
    asGroupLeader,
  );
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  hand.signal("SIGTERM");
  expect((await hand.exited).code).toBe(0);
});

test("descriptors that the runtime left open do not reach a plugin", async () => {
  const leak = ["/bin/sh", "-c", 'exec 5</etc/passwd 9</etc/passwd; exec "$@"', "sh"];
  sandbox.call("ADD", {}, {}, leak);
  const peer = await daemon.accept();
  await peer.begin();
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", 'ls -l /proc/self/fd > "$DIR/fds"'))));
  await peer.expect("OUTCOME");
  expect(sandbox.read("fds")).not.toContain("passwd");
  expect(sandbox.read("fds")).toContain("pipe");
});
