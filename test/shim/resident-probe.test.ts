import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { encodeRun } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { Sandbox } from "./sandbox.ts";
import { ScriptedDaemon, type Peer } from "./scripted-daemon.ts";
import type { Exited, ShimProcess } from "./shim-process.ts";

let sandbox: Sandbox;
let socket: string;

beforeEach(() => {
  sandbox = new Sandbox();
  socket = sandbox.path("probe.sock");
});

afterEach(() => sandbox.clean());

function start(...more: readonly string[]): ShimProcess {
  const options = ["--resident", "--socket-dir", sandbox.socketDir, "--probe-socket", socket, ...more];
  return sandbox.start(options, "", { PATH: process.env["PATH"] });
}

function probe(): Promise<Exited> {
  return sandbox.start(["--probe", socket], "", {}).exited;
}

/** As kubelet's startup probe does: until the hand has got so far. */
async function probeUntil(words: string): Promise<Exited> {
  const end = performance.now() + 5_000;
  for (;;) {
    const answer = await probe();
    if (answer.stdout.includes(words)) return answer;
    if (performance.now() > end)
      throw new Error(`No probe was answered with ${words}: ${answer.stdout}${answer.stderr}`);
  }
}

async function accept(daemon: ScriptedDaemon): Promise<Peer> {
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  return peer;
}

test("--probe is answered with and without a daemon, and while plugins run", async () => {
  const hand = start();
  expect(await probeUntil("not connected")).toEqual({
    code: 0,
    signal: null,
    stdout: `hand ${hand.pid}: not connected to the daemon, orders in progress: 0\n`,
    stderr: "",
  });
  const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  const peer = await accept(daemon);
  await probeUntil(": connected");
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("slow", 'echo $$ > "$DIR/pid"; sleep 1'))));
  await sandbox.pidIn("pid");
  const started = performance.now();
  expect(await probe()).toMatchObject({ code: 0, stdout: expect.stringContaining("progress: 1\n") as string });
  expect(performance.now() - started).toBeLessThan(500);
  expect(readOutcome(await peer.expect("OUTCOME")).exitCode).toBe(0);
  await daemon.kill();
  expect((await probeUntil("not connected")).code).toBe(0);
});

test("--probe fails while the hand is stopped, and is answered when it goes on", async () => {
  const hand = start();
  await probeUntil("hand");
  hand.signal("SIGSTOP");
  expect(await probe()).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr: `The resident hand does not answer on ${socket}: nothing came within 5000 ms\n`,
  });
  hand.signal("SIGCONT");
  expect((await probe()).code).toBe(0);
}, 15_000);

test("--probe fails when the hand is gone, and a new one takes the socket that it left", async () => {
  expect((await probe()).stderr).toEndWith("No such file or directory (errno 2)\n");
  const hand = start();
  await probeUntil("hand");
  hand.kill();
  await hand.exited;
  expect(existsSync(socket)).toBe(true);
  expect(await probe()).toMatchObject({ code: 1, stderr: expect.stringContaining("(errno 111)") as string });
  const next = start();
  expect((await probeUntil("hand")).stdout).toStartWith(`hand ${next.pid}:`);
});

test("--probe-socket is looked up before the change of root", async () => {
  mkdirSync(sandbox.path("root"));
  const hand = start("--root", sandbox.path("root"));
  expect((await probeUntil("hand")).stdout).toStartWith(`hand ${hand.pid}:`);
});

test("--probe-socket that cannot be made ends the hand with the reason", async () => {
  writeFileSync(socket, "");
  const { code, stderr } = await start().exited;
  expect(code).toBe(1);
  expect((JSON.parse(stderr) as { message: string }).message).toBe(
    `Cannot listen for probes on ${socket}: Address already in use (errno 98)`,
  );
});

test("SIGTERM: it is answered until the last plugin has ended", async () => {
  const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  const hand = start();
  const peer = await accept(daemon);
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("slow", 'echo $$ > "$DIR/pid"; sleep 1'))));
  await sandbox.pidIn("pid");
  hand.signal("SIGTERM");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await probe()).code).toBe(0);
  expect((await hand.exited).code).toBe(0);
  await daemon.kill();
});
