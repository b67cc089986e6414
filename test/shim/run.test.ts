import { beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, closeSync, openSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import type { PluginType } from "../../src/base/brand.ts";
import { textField } from "../../src/wire/frame.ts";
import { encodeRun, readCall, type HandIdentity, type RunOrder } from "../../src/wire/messages.ts";
import { readOutcome, type Outcome } from "../../src/wire/outcome.ts";
import { canMakeLeaf, escaping, leavesOf } from "./leaf.ts";
import { eventually, isAlive } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();
let peer: Peer;
let shim: ShimProcess;
let identity: HandIdentity;

const trace = {
  TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  TRACESTATE: "vendor=x",
  BAGGAGE: "team=net",
};

beforeEach(async () => {
  shim = sandbox.call("ADD", {}, { ...trace, SECRET: "x" });
  peer = await daemon.accept();
  identity = readCall(await peer.begin()).hand;
});

async function run(plugin: PluginType, changes: Partial<RunOrder> = {}): Promise<Outcome> {
  peer.send(encodeRun(1, sandbox.run(plugin, changes)));
  return readOutcome(await peer.expect("OUTCOME"));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}

test("a plugin's exit code, output and use of the machine are told", async () => {
  const outcome = await run(
    sandbox.plugin("p", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo out; echo err >&2; exit 3"),
  );
  expect(outcome).toMatchObject({
    exitCode: 3,
    signal: undefined,
    timedOut: false,
    stderr: "err\n",
    failure: undefined,
    oomCgroup: 0,
    oomNode: 0,
  });
  expect(text(outcome.stdout)).toBe("out\n");
  expect(outcome.cpuUs).toBeGreaterThan(5_000);
  expect(outcome.wallUs).toBeGreaterThan(outcome.cpuUs / 2);
  expect(outcome.maxRssKib).toBeGreaterThan(100);
  expect(outcome.cgroupUsage).toBeGreaterThan(0);
});

test("a plugin that a signal ended is told by its signal", async () => {
  expect(await run(sandbox.plugin("p", "kill -SEGV $$"))).toMatchObject({
    exitCode: undefined,
    signal: 11,
    timedOut: false,
  });
});

test("its environment is CNI_* of the order, and PATH and the trace of the shim", async () => {
  const outcome = await run(sandbox.plugin("p", "env | cut -d= -f1 | sort | tr '\\n' ' '"));
  expect(text(outcome.stdout)).toBe(
    "BAGGAGE CNI_COMMAND CNI_CONTAINERID CNI_IFNAME CNI_NETNS CNI_PATH PATH PWD TRACEPARENT TRACESTATE ",
  );
});

test("an order with a span of its own replaces TRACEPARENT, and one of a wrong form does not", async () => {
  const plugin = sandbox.plugin("p", 'echo "$TRACEPARENT $TRACESTATE $BAGGAGE"');
  const own = trace.TRACEPARENT.replace("b7ad", "1111");
  for (const [given, seen] of [
    [own, own],
    [undefined, trace.TRACEPARENT],
    ["00-x", trace.TRACEPARENT],
    [`${own}\nLD_PRELOAD=/x`, trace.TRACEPARENT],
    ["x".repeat(100_000), trace.TRACEPARENT],
  ])
    expect(text((await run(plugin, { traceParent: given })).stdout)).toBe(`${seen ?? ""} vendor=x team=net\n`);
});

test("the call names the runtime's trace, without its baggage", async () => {
  sandbox.call("ADD", {}, trace);
  const call = await (await daemon.accept()).expect("CALL");
  expect([textField(call, "trace_parent"), textField(call, "trace_state")]).toEqual([trace.TRACEPARENT, "vendor=x"]);
  expect(Buffer.from(call.payload).includes("team=net")).toBe(false);
  sandbox.call("ADD", {}, { TRACEPARENT: "00-x", TRACESTATE: "vendor=x" });
  const other = await (await daemon.accept()).expect("CALL");
  expect([textField(other, "trace_parent"), textField(other, "trace_state")]).toEqual([undefined, undefined]);
});

test("it inherits three pipes, its own group, our session, and no ignored or blocked signal", async () => {
  const plugin = sandbox.plugin(
    "p",
    "ls -l /proc/$$/fd > $DIR/descriptors; cut -d' ' -f1,5,6 /proc/$$/stat; grep -E '^Sig(Blk|Ign)' /proc/self/status",
  );
  const [numbers, ...signals] = text((await run(plugin)).stdout)
    .trim()
    .split("\n");
  // The shell opens files of its own; of the hand's there are three pipes, no socket and no signalfd.
  const descriptors = sandbox.read("descriptors");
  expect(new Set(descriptors.match(/pipe:\[\d+\]/g)).size).toBe(3);
  expect(descriptors).not.toMatch(/socket|anon_inode/);
  const [pid, group, session] = numbers?.split(" ") ?? [];
  expect(group).toBe(pid ?? "");
  expect(session).toBe(String(shim.pid));
  expect(signals).toEqual(["SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"]);
});

test("a large stdin arrives whole, and one without a reader does no harm", async () => {
  const stdin = JSON.stringify({ padding: "x".repeat(300_000) });
  await run(sandbox.plugin("reads", 'cat > "$DIR/stdin"'), { stdin });
  expect(sandbox.read("stdin")).toBe(stdin);
  expect((await run(sandbox.plugin("ignores", "exec <&-; echo fine"), { stdin })).exitCode).toBe(0);
});

test("stdout is kept to 512 KiB from its start, stderr to 8 KiB from its end", async () => {
  const outcome = await run(
    sandbox.plugin(
      "p",
      "head -c 900000 /dev/zero | tr '\\0' a; head -c 50000 /dev/zero | tr '\\0' b >&2; echo end >&2",
    ),
  );
  expect(outcome.stdout.length).toBe(512 * 1024);
  expect(outcome.stdoutTruncated).toBe(true);
  expect(outcome.stderr.length).toBe(8 * 1024);
  expect(outcome.stderr.endsWith("bbend\n")).toBe(true);
  expect(outcome.exitCode).toBe(0);
});

test("past its time the plugin is killed with its children", async () => {
  const plugin = sandbox.plugin(
    "p",
    '(trap "" TERM HUP INT; echo $$ > /dev/null; sh -c \'echo $PPID\' > "$DIR/child"; sleep 30) & echo partial; sleep 30',
  );
  const started = performance.now();
  const outcome = await run(plugin, { timeoutMs: 300 });
  expect(performance.now() - started).toBeLessThan(1_500);
  expect(outcome).toMatchObject({ exitCode: undefined, signal: 9, timedOut: true });
  expect(text(outcome.stdout)).toBe("partial\n");
  const child = await sandbox.pidIn("child");
  await eventually(() => !isAlive(child), "the plugin's child is dead", 500);
});

test.skipIf(!canMakeLeaf())(
  "a child with a session of its own is dead when the killed run's outcome comes",
  async () => {
    const outcome = await run(sandbox.plugin("p", `${escaping}\nsleep 30`), { timeoutMs: 500 });
    expect(outcome).toMatchObject({ signal: 9, timedOut: true });
    expect(isAlive(await sandbox.pidIn("escaped"))).toBe(false);
  },
);

test.skipIf(!canMakeLeaf())(
  "a run leaves no cgroup behind, and a background process of a good run lives on",
  async () => {
    expect(await run(sandbox.plugin("quick", "echo done"))).toMatchObject({ exitCode: 0 });
    expect(leavesOf(identity)).toEqual([]);
    expect(await run(sandbox.plugin("p", escaping))).toMatchObject({ exitCode: 0 });
    const child = await sandbox.pidIn("escaped");
    expect(isAlive(child)).toBe(true);
    const [leaf = ""] = leavesOf(identity);
    process.kill(child, "SIGKILL");
    await eventually(() => !isAlive(child), "the background process has ended", 500);
    rmdirSync(leaf);
  },
);

test("a child that keeps the pipes open delays the outcome by one second at most", async () => {
  const started = performance.now();
  const outcome = await run(sandbox.plugin("p", "sleep 20 & echo done"));
  const waited = performance.now() - started;
  expect(outcome).toMatchObject({ exitCode: 0, timedOut: false });
  expect(text(outcome.stdout)).toBe("done\n");
  expect(waited).toBeGreaterThan(900);
  expect(waited).toBeLessThan(1_600);
  expect(outcome.wallUs).toBeLessThan(500_000);
});

test("KILL ends the run of that step and no other", async () => {
  const plugin = sandbox.plugin("p", 'echo begun; echo $$ > "$DIR/pid"; sleep 30');
  peer.send(encodeRun(5, sandbox.run(plugin)));
  peer.order("KILL", [["step", 4]]);
  await sandbox.pidIn("pid");
  peer.order("KILL", [["step", 5]]);
  const outcome = readOutcome(await peer.expect("OUTCOME"));
  expect(outcome).toMatchObject({ failure: "killed", signal: 9, timedOut: false });
  expect(text(outcome.stdout)).toBe("begun\n");
});

test.skipIf(!canMakeLeaf())("plugins that cannot be executed leave no cgroup behind", async () => {
  const plugin = sandbox.plugin("p", "");
  writeFileSync(sandbox.path("bin/p"), "\u0001 no program");
  for (let step = 0; step < 20; step += 1) expect(await run(plugin)).toMatchObject({ failure: "exec" });
  expect(leavesOf(identity)).toEqual([]);
});

describe("what does not run", () => {
  test("a plugin that is in no folder is missing, with its name and the list", async () => {
    const outcome = await run("absent" as PluginType);
    expect(outcome).toMatchObject({ failure: "missing", errno: 2, exitCode: undefined });
    expect(outcome.message).toContain('"absent"');
    expect(outcome.message).toContain(sandbox.binDir);
  });

  test("a file that is not executable, and a folder, are missing too", async () => {
    const plain = sandbox.plugin("plain", "echo no");
    chmodSync(`${sandbox.binDir}/plain`, 0o644);
    expect((await run(plain)).failure).toBe("missing");
    symlinkSync("/tmp", `${sandbox.binDir}/folder`);
    expect((await run("folder" as PluginType)).failure).toBe("missing");
  });

  test("a program of a foreign format fails to start and is not given to a shell", async () => {
    writeFileSync(`${sandbox.binDir}/foreign`, "echo a shell ran this\n", { mode: 0o755 });
    expect(await run("foreign" as PluginType)).toMatchObject({ failure: "exec", errno: 8, exitCode: undefined });
  });

  test("a program that stays open for writing is busy, never a success", async () => {
    const plugin = sandbox.plugin("p", "echo ran");
    const fd = openSync(`${sandbox.binDir}/p`, "r+");
    const started = performance.now();
    try {
      expect(await run(plugin)).toMatchObject({ failure: "busy", errno: 26, exitCode: undefined });
      expect(performance.now() - started).toBeLessThan(3_500);
    } finally {
      closeSync(fd);
    }
  });

  test("a program that is busy only for a moment runs", async () => {
    const plugin = sandbox.plugin("p", "echo ran");
    const fd = openSync(`${sandbox.binDir}/p`, "r+");
    setTimeout(() => closeSync(fd), 100);
    expect(await run(plugin)).toMatchObject({ exitCode: 0, failure: undefined });
  });
});
