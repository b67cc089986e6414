import { expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import type { GcAnswer, LeaksAnswer } from "../../src/wire/node-view.ts";
import { attachments, eachOf, expectSuccess, makeNode, podCall } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

/** The resident hand runs eight plugins at a time, and recovery alone can use all of them. */
const runsMax = 8;

test("garbage collection beside a hand whose eight runs are all taken waits for one, and nothing counts as a leak", async () => {
  await using lab = await makeNode({ gcIntervalMs: 0, gcGraceMs: 100, delAttemptsMax: 1 });
  const gate = lab.path("gate");
  await lab.startDaemon();
  // The first shows that the hand can see namespaces; that of the second goes without a DEL.
  const [witness, dead] = [podCall(lab, "witness"), podCall(lab, "dead")];
  for (const call of [witness, dead]) expectSuccess(await lab.cni("ADD", call));
  const lost = Array.from({ length: runsMax }, (_, index) => podCall(lab, `c${index}`));
  for (const call of lost) expectSuccess(await lab.cni("ADD", call));
  await lab.killDaemon();
  lab.deleteNetns(dead.netns);
  await eachOf(lost, runsMax, async (call) =>
    expectSuccess(await lab.cni("DEL", { ...call, conf: lab.shimConf({ delPatienceMs: 1 }) })),
  );
  await lab.script("gamma.DEL", `case $CNI_CONTAINERID in c?) while [ ! -e ${gate} ]; do sleep 0.02; done;; esac`);
  await lab.startDaemon();
  await lab.startHand();
  await lab.until("recovery uses every run of the hand", async () => {
    const begun = (await readdir(lab.path("control/calls"))).filter((name) => name.includes("-gamma-DEL-c"));
    return begun.length === runsMax || undefined;
  });
  await lab.until("garbage collection undoes the dead one", async () => {
    await lab.ask<GcAnswer>({ ask: "gc", run: "fix" });
    const timeline = await lab.ask({ ask: "timeline", namespace: "default", name: "web" });
    return JSON.stringify(timeline).includes('"verb":"GC"') || undefined;
  });
  await writeFile(gate, "");
  await lab.until("all but the first are gone", async () => (await attachments(lab)).length === 1 || undefined);
  expect((await lab.ask<LeaksAnswer>({ ask: "leaks" })).leaks.map(({ reason }) => reason)).toEqual([]);
  expectSuccess(await lab.cni("DEL", witness));
  await expectNothingLeft(lab, { netns: [witness, ...lost].map(({ netns }) => netns) });
});
