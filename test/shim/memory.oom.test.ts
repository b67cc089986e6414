import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { encodeRun } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { eventually } from "./sandbox.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

// On cgroup v2 a test would need a delegated tree; reading its files is tested on recorded text beside the code.
const hasV1 = existsSync("/sys/fs/cgroup/memory/memory.limit_in_bytes");
const folder = `/sys/fs/cgroup/memory/levee-shim-test-${process.pid}`;

withDaemon();

test.skipIf(!hasV1)("a plugin killed for memory is told by the counts, with the limit of the cgroup", async () => {
  mkdirSync(folder);
  try {
    writeFileSync(`${folder}/memory.limit_in_bytes`, String(24 * 1024 * 1024));
    const shim = sandbox.call("ADD", {}, {}, ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder]);
    const peer = await daemon.accept();
    await peer.begin();
    const greedy = sandbox.plugin("greedy", "head -c 200000000 /dev/zero | tail -n 1 > /dev/null; echo survived");
    peer.send(encodeRun(1, sandbox.run(greedy)));
    const outcome = readOutcome(await peer.expect("OUTCOME"));
    expect(outcome.oomCgroup).toBeGreaterThanOrEqual(1);
    expect(outcome.oomNode).toBeGreaterThanOrEqual(1);
    expect(outcome.cgroupLimit).toBe(24 * 1024 * 1024);
    expect(outcome.cgroupUsage).toBeLessThanOrEqual(24 * 1024 * 1024);
    peer.send(encodeRun(2, sandbox.run(sandbox.plugin("modest", "true"))));
    expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ exitCode: 0, oomCgroup: 0 });
    await peer.finish();
    expect((await shim.exited).code).toBe(0);
  } finally {
    await eventually(() => readFileSync(`${folder}/cgroup.procs`, "utf8") === "", "the cgroup is empty");
    rmdirSync(folder);
  }
});

test.skipIf(!hasV1)("a plugin that is killed for memory does not take the resident hand with it", async () => {
  mkdirSync(folder);
  const enter = ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder];
  const options = ["--resident", "--socket-dir", sandbox.socketDir, "--delegate-memory", String(24 * 1024 * 1024)];
  const hand = sandbox.start(options, "", { PATH: process.env["PATH"] }, enter);
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
  rmdirSync(folder);
});

test("a negative score of the runtime is not passed on to plugins", async () => {
  const own = "/proc/self/oom_score_adj";
  const before = readFileSync(own, "utf8").trim();
  let lowered = false;
  try {
    writeFileSync(own, "-500");
    lowered = true;
  } catch {
    // Lowering needs CAP_SYS_RESOURCE; without it the score cannot be negative here and 0 is what must be seen.
  }
  const shim = sandbox.call("ADD");
  if (lowered) writeFileSync(own, before);
  const peer = await daemon.accept();
  await peer.begin();
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", "cat /proc/self/oom_score_adj"))));
  const score = Number(Buffer.from(readOutcome(await peer.expect("OUTCOME")).stdout).toString());
  expect(score).toBe(Math.max(0, Number(before)));
  await peer.finish();
  expect((await shim.exited).code).toBe(0);
});
