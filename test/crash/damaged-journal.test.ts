import { expect, test } from "bun:test";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LeaksAnswer } from "../../src/wire/node-view.ts";
import type { Lab } from "../lab/lab.ts";
import { filesIn } from "../lab/leftovers.ts";
import {
  addStory,
  attachments,
  delStory,
  eachOf,
  expectSuccess,
  makeNode,
  pause,
  podCall,
  story,
  untilRunning,
  type PodCall,
} from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

const evidence = { apartFrom: /^quarantined / };

test("a journal whose last line was cut off at any place: what was before it counts, and the DEL leaves nothing", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  const file = await readFile(journal(lab));
  // Behind the lines is room for more, which a killed daemon leaves.
  const whole = file.subarray(0, file.lastIndexOf("\n") + 1);
  const more = Buffer.concat([whole, whole.subarray(0, whole.indexOf("\n"))]);
  for (const length of [whole.length + 1, whole.length + 20, more.length]) {
    await writeFile(journal(lab), more.subarray(0, length));
    await lab.startDaemon();
    expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attached"]);
    await lab.killDaemon();
  }
  await lab.startDaemon();
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("one flipped bit in any line of the journal: the living pod keeps its networks, and its DEL leaves nothing", async () => {
  // genesis, imported, begin, three steps, commit, acknowledge.
  const lines = Array.from({ length: 8 }, (_, index) => index);
  await eachOf(lines, 3, async (line) => {
    await using lab = await makeNode();
    const call = await attachedThenAway(lab);
    await flipBit(lab, line);
    await lab.startDaemon();
    await lab.startHand();
    await pause(400);
    // Whatever was lost, a running pod keeps its networks.
    expect(await story(lab)).toEqual(addStory);
    expect((await leaks(lab)).quarantined).toHaveLength(line === 0 ? 2 : 1);
    expectSuccess(await lab.cni("DEL", call));
    expect(await story(lab)).toEqual([...addStory, ...delStory]);
    await expectNothingLeft(lab, { netns: [call.netns], ...evidence });
  });
});

test("the record is lost: DEL works from Multus' copy, with ADD's own bytes and the chain's result", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  await flipBit(lab, 2);
  await lab.startDaemon();
  expect(await attachments(lab)).toEqual([]);
  expectSuccess(await lab.cni("DEL", call));
  const deletes = (await lab.calls()).filter(({ command }) => command === "DEL");
  expect(deletes.map(({ plugin, stdin }) => `${plugin} ${stdin.includes('"prevResult"')}`)).toEqual([
    "gamma true",
    "beta true",
    "alpha true",
  ]);
  await expectNothingLeft(lab, { netns: [call.netns], ...evidence });
  // Never twice.
  expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab, "DEL")).toEqual(delStory);
});

test("the record and Multus' copy are lost: DEL works the networks out again from the pod", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  await flipBit(lab, 2);
  await rm(lab.cniDir, { recursive: true });
  await lab.startDaemon();
  expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab, "DEL")).toEqual(delStory);
  await expectNothingLeft(lab, { netns: [call.netns], ...evidence });
});

test("the record, Multus' copy and the pod are lost: DEL deletes the default network, and the loss is in the ledger, once", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  await flipBit(lab, 2);
  await rm(lab.cniDir, { recursive: true });
  await rm(lab.path("directory/pods"), { recursive: true });
  await lab.startDaemon();
  const ofDefault = ["DEL beta eth0", "DEL alpha eth0"];
  for (let time = 0; time < 3; time += 1) expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab, "DEL")).toEqual(ofDefault);
  await lab.killDaemon();
  await lab.startDaemon();
  expectSuccess(await lab.cni("DEL", call));
  expect((await leaks(lab)).leaks.map(({ containerId }) => containerId)).toEqual(["c1"]);
  // The next daemon cannot know that they ran, and DEL may run again.
  expect(await story(lab, "DEL")).toEqual([...ofDefault, ...ofDefault]);
});

test("the whole journal is gone, or is garbage: the same, by way of the index and Multus' copy", async () => {
  await eachOf(["gone", "garbage", "empty"], 3, async (how) => {
    await using lab = await makeNode();
    const call = await attachedThenAway(lab);
    if (how === "gone") await rm(journal(lab));
    else await writeFile(journal(lab), how === "empty" ? "" : Buffer.alloc(5_000, "x"));
    await lab.startDaemon();
    await lab.startHand();
    await pause(200);
    expect(await story(lab)).toEqual(addStory);
    expectSuccess(await lab.cni("DEL", call));
    expect(await story(lab, "DEL")).toEqual(delStory);
    await expectNothingLeft(lab, { netns: [call.netns], ...evidence });
  });
});

test("the record of an ADD under way is lost with the daemon: its shim undoes what it did, and nothing is left", async () => {
  await using lab = await makeNode();
  await lab.script("beta.ADD", "sleep 0.4");
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  const adding = lab.cni("ADD", call);
  await untilRunning(lab, "ADD", "beta");
  await lab.killDaemon();
  await flipBit(lab, 2);
  await lab.startDaemon();
  expect((await adding).exitCode).toBe(1);
  expect(await story(lab)).toEqual(["ADD alpha eth0", "ADD beta eth0", "DEL beta eth0", "DEL alpha eth0"]);
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns], ...evidence });
});

async function attachedThenAway(lab: Lab): Promise<PodCall> {
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  // The answer does not wait for Multus' copy, so it may come a moment later.
  const files = async (): Promise<readonly string[]> =>
    (await filesIn(lab.cniDir)).filter((file) => !file.endsWith(".tmp"));
  await lab.until("Multus' copy is there", async () => ((await files()).length === 3 ? true : undefined));
  await lab.killDaemon();
  return call;
}

function journal(lab: Lab): string {
  return join(lab.stateDir, "journal.log");
}

/** Flips one bit in the middle of a line of the journal. */
async function flipBit(lab: Lab, line: number): Promise<void> {
  const lines = (await readFile(journal(lab), "latin1")).split("\n");
  const text = Buffer.from(lines[line] ?? "", "latin1");
  const at = Math.floor(text.length / 2);
  text[at] = (text[at] ?? 0) ^ 1;
  lines[line] = text.toString("latin1");
  await writeFile(journal(lab), lines.join("\n"), "latin1");
}

function leaks(lab: Lab): Promise<LeaksAnswer> {
  return lab.ask<LeaksAnswer>({ ask: "leaks" });
}
