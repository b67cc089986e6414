import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { encodeRun } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { eventually } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

setDefaultTimeout(20_000);

withDaemon();

const burn = "end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do :; done";

/** Runs a plugin for so long, and returns what was told of it meanwhile. */
async function idleOf(peer: Peer, body: string, lastsMs: number): Promise<readonly (number | undefined)[]> {
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("p", body), { timeoutMs: lastsMs })));
  await peer.expect("OUTCOME");
  expect(peer.progress.every(({ step }) => step === 1)).toBe(true);
  return peer.progress.map(({ idleMs }) => idleMs);
}

async function calling(version?: number): Promise<Peer> {
  sandbox.call("ADD");
  const peer = await daemon.accept();
  await peer.begin(60_000, version);
  return peer;
}

test("a plugin that sleeps is told with growing idle time", async () => {
  const told = await idleOf(await calling(), "sleep 30", 3_600);
  expect(told.length).toBe(3);
  for (const [count, idleMs] of told.entries()) {
    expect(idleMs).toBeGreaterThanOrEqual((count + 1) * 1_000);
    expect(idleMs).toBeLessThan((count + 1) * 1_000 + 400);
  }
});

test.each([
  ["that works", burn],
  ["whose child works", `sh -c '${burn}'; true`],
  ["whose orphan works", `(sh -c '${burn}' &) ; sleep 30`],
])("a plugin %s is not idle", async (_, body) => {
  expect(await idleOf(await calling(), body, 2_600)).toEqual([0, 0]);
});

test("a plugin that ends within a second is not told about", async () => {
  expect(await idleOf(await calling(), "sleep 0.8", 5_000)).toEqual([]);
});

test("the resident hand tells of each of its runs", async () => {
  const hand = sandbox.resident();
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  peer.send(encodeRun(1, sandbox.run(sandbox.plugin("sleeps", "sleep 30"), { timeoutMs: 2_600 })));
  peer.send(encodeRun(2, sandbox.run(sandbox.plugin("burns", burn), { timeoutMs: 2_600 })));
  await peer.expect("OUTCOME");
  await peer.expect("OUTCOME");
  const moves = peer.progress.map(({ step, idleMs }) => `${step} ${(idleMs ?? 0) >= 1_000 ? "idle" : "moves"}`);
  expect(moves.toSorted()).toEqual(["1 idle", "1 idle", "2 moves", "2 moves"]);
  hand.signal("SIGTERM");
  await hand.exited;
});

test.each([[1], [2]])("a daemon that speaks version %d is never told", async (version) => {
  expect(await idleOf(await calling(version), "sleep 30", 2_600)).toEqual([]);
});

test("a daemon that does not read delays neither the plugin's time limit nor the shim's", async () => {
  const shim = sandbox.call("ADD", { addBudgetMs: 6_000 });
  const peer = await daemon.accept();
  await peer.begin();
  const started = performance.now();
  peer.pause();
  // One run is not enough: the kernel keeps 0.2 MB of it, and a peer that was paused reads once more, up to 0.5 MB. What
  // is left waits in the shim, and with it a queue of progress would grow.
  for (const step of [1, 2]) await runUnread(shim, peer, step, { body: "head -c 500000 /dev/zero | tr '\\0' a" });
  await runUnread(shim, peer, 3, { body: "sleep 30", timeoutMs: 1_600 });
  peer.resume();
  for (const _ of [1, 2]) expect(readOutcome(await peer.expect("OUTCOME")).exitCode).toBe(0);
  const outcome = readOutcome(await peer.expect("OUTCOME"));
  expect(outcome).toMatchObject({ timedOut: true });
  expect(outcome.wallUs).toBeLessThan(2_000_000);
  expect(peer.progress).toEqual([]);
  await shim.exited;
  expect(performance.now() - started).toBeLessThan(8_000);
});

/** Has a plugin run to its end while the daemon does not read. */
async function runUnread(
  shim: ShimProcess,
  peer: Peer,
  step: number,
  { body, timeoutMs = 5_000 }: { readonly body: string; readonly timeoutMs?: number },
): Promise<void> {
  const plugin = sandbox.plugin(`unread${step}`, `echo began > $DIR/unread${step}.txt\n${body}`);
  peer.send(encodeRun(step, sandbox.run(plugin, { timeoutMs })));
  await eventually(() => sandbox.read(`unread${step}.txt`) !== "", `plugin ${step} begins`);
  const children = `/proc/${shim.pid}/task/${shim.pid}/children`;
  await eventually(() => readFileSync(children, "utf8").trim() === "", `plugin ${step} has ended`);
}
