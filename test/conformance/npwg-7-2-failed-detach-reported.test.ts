// NPWG 7.2: teardown tries every attachment, and a failed one is reported; ours gives up in the end without forgetting it.
import { rm } from "node:fs/promises";
import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { Journal } from "../../src/state/journal/journal.ts";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import type { CniCall, Lab } from "../lab/lab.ts";
import { filesIn, leftovers } from "../lab/leftovers.ts";
import {
  attachments,
  containerId,
  errorOf,
  expectSilence,
  leaks,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
  story,
} from "./node.ts";

const failure = `echo '{"cniVersion":"1.0.0","code":42,"msg":"switch is away"}'; exit 1`;

async function attached(lab: Lab): Promise<CniCall & { readonly netns: string }> {
  await lab.network("a", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.network("b", { cniVersion: "1.0.0", name: "b", plugins: [lab.conf("third"), lab.conf("fourth")] });
  await lab.pod("web", { [networksAnnotation]: "a,b" });
  const call = { containerId: containerId("del"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  await lab.forgetCalls();
  return call;
}

test("all networks are tried although one fails, and the runtime gets the plugin's own error", async () => {
  await using lab = await startNode();
  const call = await attached(lab);
  await lab.script("fourth.DEL", failure);
  expect(errorOf(await lab.cni("DEL", call))).toEqual({
    cniVersion: "1.1.0",
    code: 42,
    msg: "default/b (net2): switch is away",
  });
  // The CNI specification stops the list at a failure. Levee goes on: the plugins before it may hold an address.
  expect(await story(lab)).toEqual(["DEL fourth net2", "DEL third net2", "DEL second net1", "DEL first eth0"]);
  expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["detaching"]);
});

test("two failures are both told", async () => {
  await using lab = await startNode();
  const call = await attached(lab);
  await lab.script("second.DEL", failure);
  await lab.script("first.DEL", "exit 1");
  const { msg } = errorOf(await lab.cni("DEL", call));
  expect(msg).toContain("default/a (net1): switch is away");
  expect(msg).toContain("primary (eth0): ");
});

test("the next DEL finishes it once the plugin works again", async () => {
  await using lab = await startNode();
  const call = await attached(lab);
  await lab.script("second.DEL", failure);
  errorOf(await lab.cni("DEL", call));
  await lab.unscript("second.DEL");
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("after three attempts DEL succeeds, and what failed is in the leak ledger, alone and with its bytes", async () => {
  await using lab = await startNode();
  const call = await attached(lab);
  await lab.script("second.DEL", failure);
  errorOf(await lab.cni("DEL", call));
  errorOf(await lab.cni("DEL", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await attachments(lab)).toEqual([]);
  expect(await filesIn(lab.cniDir)).toEqual([]);
  expect(
    (await leaks(lab)).map(({ containerId: id, network, ifname, reason }) => ({ id, network, ifname, reason })),
  ).toEqual([
    { id: call.containerId, network: "default/a", ifname: "net1", reason: "default/a (net1): switch is away" },
  ]);
  await lab.forgetCalls();
  expectSilence(await lab.cni("DEL", call));
  expect(await lab.calls()).toEqual([]);
});

test("only the plugin that failed is in the leak ledger, and only it is tried again", async () => {
  await using lab = await startNode({ settings: { delAttemptsMax: 1 }, withHand: true });
  const call = await attached(lab);
  await lab.script("fourth.DEL", failure);
  expectSilence(await lab.cni("DEL", call));
  expect((await leaks(lab)).map(({ network, reason }) => `${network}: ${reason}`)).toEqual([
    "default/b: default/b (net2): switch is away",
  ]);
  await lab.unscript("fourth.DEL");
  await lab.forgetCalls();
  await lab.ask({ ask: "leaks", retry: true });
  await lab.until("the leak is resolved", async () => ((await leaks(lab)).length === 0 ? true : undefined));
  expect(await story(lab)).toEqual(["DEL fourth net2"]);
});

test("a plugin that was removed since is reported like any failure", async () => {
  await using lab = await startNode({ settings: { delAttemptsMax: 2 } });
  const call = await attached(lab);
  await rm(lab.path("bin/second"));
  expect(errorOf(await lab.cni("DEL", call))).toMatchObject({
    code: 106,
    msg: expect.stringContaining("default/a (net1)"),
  });
  await lab.plugin("second");
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("the number of attempts survives the daemon's death", async () => {
  await using lab = await startNode({ settings: { delAttemptsMax: 2 } });
  const call = await attached(lab);
  await lab.script("second.DEL", failure);
  errorOf(await lab.cni("DEL", call));
  await lab.killDaemon();
  await lab.startDaemon();
  expectSilence(await lab.cni("DEL", call));
  expect(await leaks(lab)).toHaveLength(1);
});

test("the resident hand tries a leak again when it is due, and it is gone when that works", async () => {
  await using lab = await startNode({ settings: { delAttemptsMax: 1 } });
  const call = await attached(lab);
  await lab.script("second.DEL", failure);
  expectSilence(await lab.cni("DEL", call));
  const { bootId } = await lab.ask<NodeAnswer>({ ask: "node" });
  await lab.killDaemon("SIGTERM");
  await makeLeaksDue(lab, bootId);
  await lab.unscript("second.DEL");
  await lab.forgetCalls();
  lab.deleteNetns(call.netns);
  await lab.startDaemon();
  await lab.startHand();
  await lab.until("the leak is resolved", async () => ((await leaks(lab)).length === 0 ? true : undefined));
  expect(await story(lab)).toEqual(["DEL second net1"]);
  const del = await onlyCall(lab, "DEL", "second");
  expect(del.env).toMatchObject({ CNI_CONTAINERID: call.containerId, CNI_IFNAME: "net1" });
  expect(del.env["CNI_NETNS"] ?? "").toBe("");
  expect(stdinOf(del)["prevResult"]).toMatchObject({ interfaces: [{ name: "net1" }] });
  expect(await leftovers(lab)).toEqual([]);
});

/** Takes the waiting time out: half a minute is long for a test. */
async function makeLeaksDue(lab: Lab, bootId: string): Promise<void> {
  const journal = await Journal.open({ stateDir: lab.stateDir, bootId, clock: systemClock, logger: silentLogger });
  for (const leak of journal.leaks()) await journal.leak({ ...leak, nextTryWallMs: 0 });
  await journal.close();
}
