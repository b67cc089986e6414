/** Running pods that Multus has attached: Levee takes them over, and changes their networks as those of its own. */
import { test } from "bun:test";
import { readFile, rm, writeFile } from "node:fs/promises";
import { expectSuccess } from "../crash/crash-node.ts";
import { expectNothingLeft } from "../crash/nothing-left.ts";
import { annotate, expectStory, makePlugNode, runPod, untilNetworks } from "./plug-node.ts";

test("networks come and go on a pod of Multus, also one that was plugged with it", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  // Levee keeps Multus' files. Without its own state it is a new Levee, and what it finds is Multus'.
  await annotate(lab, "second,third@net7");
  await untilNetworks(lab, ["second net1", "third net7"]);
  await lab.killDaemon("SIGTERM");
  await rm(lab.stateDir, { recursive: true });
  // Multus keeps no scratch file of what /delegate plugs: only the result.
  const scratch = `${lab.cniDir}/c1`;
  const elements = JSON.parse(await readFile(scratch, "utf8")) as readonly unknown[];
  await writeFile(scratch, JSON.stringify(elements.slice(0, 2)));
  await lab.forgetCalls();
  await lab.startDaemon();
  await untilNetworks(lab, ["second net1", "third net7"]);
  await annotate(lab, "second");
  await untilNetworks(lab, ["second net1"]);
  await annotate(lab, "second,third@net8");
  await untilNetworks(lab, ["second net1", "third net8"]);
  await annotate(lab, "third@net8");
  await untilNetworks(lab, ["third net8"]);
  await expectStory(lab, ["DEL delta net7", "ADD delta net8", "DEL gamma net1"]);
  await lab.forgetCalls();
  expectSuccess(await lab.cni("DEL", call));
  await expectStory(lab, ["DEL delta net8", "DEL beta eth0", "DEL alpha eth0"]);
  await lab.forgetCalls();
  await expectNothingLeft(lab, { netns: [call.netns] });
});
