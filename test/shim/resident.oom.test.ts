import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { encodeRun } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { Sandbox } from "./sandbox.ts";
import { ScriptedDaemon } from "./scripted-daemon.ts";
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

const ownCgroup = `/sys/fs/cgroup/memory/levee-shim-test-${process.pid}-resident`;

test.skipIf(!existsSync("/sys/fs/cgroup/memory/memory.limit_in_bytes"))(
  "a plugin that is killed for memory does not take the hand with it",
  async () => {
    mkdirSync(ownCgroup);
    const enter = ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', ownCgroup];
    const options = ["--resident", "--socket-dir", sandbox.socketDir, "--delegate-memory", String(24 * 1024 * 1024)];
    hand = sandbox.start(options, "", { PATH: process.env["PATH"] }, enter);
    const peer = await daemon.accept();
    await peer.expect("RESIDENT");
    peer.welcome(60_000);
    const greedy = sandbox.plugin("greedy", "head -c 200000000 /dev/zero | tail -n 1 > /dev/null; echo survived");
    peer.send(encodeRun(1, sandbox.run(greedy)));
    const outcome = readOutcome(await peer.expect("OUTCOME"));
    expect(outcome.oomCgroup).toBeGreaterThanOrEqual(1);
    expect(outcome.cgroupLimit).toBe(24 * 1024 * 1024);
    peer.send(encodeRun(2, sandbox.run(sandbox.plugin("modest", "true"))));
    expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ exitCode: 0, oomCgroup: 0 });
    hand.signal("SIGTERM");
    expect((await hand.exited).code).toBe(0);
    rmdirSync(ownCgroup);
  },
);
