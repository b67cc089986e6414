import { expect, test } from "bun:test";
import type { LeaksAnswer } from "../../src/wire/node-view.ts";
import type { Lab } from "../lab/lab.ts";
import { annotate, networksOfPod, runPod, untilNetworks } from "../plug/plug-node.ts";
import { story } from "./crash-node.ts";
import { endPod, journalKinds, makeChangeNode, plugChanges, untilDead, untilSettled } from "./plug-changes.ts";

const { unplug } = plugChanges;
const broken = 'echo \'{"cniVersion":"1.0.0","code":99,"msg":"the switch is away"}\'; exit 1';

/** Two tries, and then what is left goes to the leak ledger. */
async function makeLeakNode(): Promise<Lab> {
  return await makeChangeNode({ delAttemptsMax: 2 });
}

async function leaksOf(lab: Lab): Promise<readonly string[]> {
  const { leaks } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  return leaks.map(({ containerId, reason }) => `${containerId}: ${reason}`);
}

test("an unplug whose DEL fails again and again ends with an entry in the leak ledger; the name is free once that is resolved", async () => {
  await using lab = await makeLeakNode();
  const call = await runPod(lab);
  const before = (await journalKinds(lab)).length;
  await lab.script("gamma.DEL", broken);
  await annotate(lab, unplug.networks);
  await untilNetworks(lab, []);
  expect((await journalKinds(lab)).slice(before)).toEqual(["plug", "leak", "plug-ended"]);
  expect(await story(lab)).toEqual(["DEL gamma net1", "DEL gamma net1"]);
  expect(await leaksOf(lab)).toEqual([expect.stringContaining("the switch is away")]);
  await expectNameIsFreedByRetry(lab);
  await endPod(lab, call);
});

/** A network of the same interface name waits for the leak. */
async function expectNameIsFreedByRetry(lab: Lab): Promise<void> {
  await annotate(lab, "second");
  await lab.until("the new network waits", () =>
    Promise.resolve(lab.daemonLog.includes("something of an earlier attachment of that name is left") || undefined),
  );
  expect(await networksOfPod(lab)).toEqual([]);
  await lab.unscript("gamma.DEL");
  await lab.ask({ ask: "leaks", retry: true });
  await untilSettled(lab, ["second net1"]);
  expect(await leaksOf(lab)).toEqual([]);
}

test.each([
  { write: 1, isMended: false },
  { write: 2, isMended: false },
  { write: 3, isMended: false },
  { write: 1, isMended: true },
  { write: 2, isMended: true },
])("the daemon is killed after journal write $write of such an unplug; mended meanwhile: $isMended", async (fault) => {
  await using lab = await makeLeakNode();
  const call = await runPod(lab);
  await lab.killDaemon("SIGTERM");
  await lab.script("gamma.DEL", broken);
  const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${fault.write}` });
  await annotate(lab, unplug.networks);
  await untilDead(lab, daemon);
  if (fault.isMended) await lab.unscript("gamma.DEL");
  await lab.startDaemon();
  await untilSettled(lab, []);
  if (fault.isMended) expect(await leaksOf(lab)).toEqual([]);
  else {
    // One entry, however often it was tried.
    expect(await leaksOf(lab)).toEqual([expect.stringContaining("the switch is away")]);
    await expectNameIsFreedByRetry(lab);
  }
  await endPod(lab, call);
});

test("the daemon is killed between leak and end, and the pod is deleted: nothing is left, in the ledger neither", async () => {
  await using lab = await makeLeakNode();
  const call = await runPod(lab);
  await lab.killDaemon("SIGTERM");
  await lab.script("gamma.DEL", broken);
  const daemon = await lab.startDaemon({ LEVEE_FAULT: "journal-write:2" });
  await annotate(lab, unplug.networks);
  await untilDead(lab, daemon);
  expect((await journalKinds(lab)).at(-1)).toBe("leak");
  await lab.unscript("gamma.DEL");
  await lab.killHand();
  await lab.startDaemon();
  expect(await leaksOf(lab)).toHaveLength(1);
  await endPod(lab, call);
});
