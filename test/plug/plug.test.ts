import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { expectSuccess, pause, story, untilRunning } from "../crash/crash-node.ts";
import { expectNothingLeft } from "../crash/nothing-left.ts";
import { ip } from "../lab/lab.ts";
import { annotate, expectStory, makePlugNode, runPod, untilFailed, untilNetworks } from "./plug-node.ts";

test("a network that the annotation adds is attached within a second, and the pod's DEL removes it", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await annotate(lab, "second,third");
  await untilNetworks(lab, ["second net1", "third net2"], 1_000);
  await expectStory(lab, ["ADD delta net2"]);
  const [added] = await lab.calls();
  expect(added?.env).toMatchObject({ CNI_CONTAINERID: "c1", CNI_NETNS: call.netns, CNI_IFNAME: "net2" });
  expectSuccess(await lab.cni("DEL", call));
  await expectStory(lab, ["ADD delta net2", "DEL delta net2", "DEL gamma net1", "DEL beta eth0", "DEL alpha eth0"]);
  await lab.forgetCalls();
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a network that the annotation drops is detached with the bytes of its ADD, whatever its definition says by now", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await annotate(lab, "second,third");
  await untilNetworks(lab, ["second net1", "third net2"]);
  await lab.network("third", { cniVersion: "1.0.0", name: "other", ...lab.conf("delta", { changed: true }) });
  await annotate(lab, "second");
  await untilNetworks(lab, ["second net1"]);
  const [added, removed] = await lab.calls();
  expect(removed).toMatchObject({ command: "DEL", plugin: "delta", ifname: "net2" });
  expect(removed?.stdin).not.toContain("changed");
  expect(added?.stdin).not.toContain("changed");
  expectSuccess(await lab.cni("CHECK", call));
  expectSuccess(await lab.cni("DEL", call));
});

test("networks of the pod's own ADD are detached, [] takes all at once, and the primary stays", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await annotate(lab, []);
  await untilNetworks(lab, []);
  await expectStory(lab, ["DEL gamma net1"]);
  await lab.forgetCalls();
  await annotate(lab, [{ name: "second", interface: "net1" }]);
  await untilNetworks(lab, ["second net1"]);
  expectSuccess(await lab.cni("DEL", call));
  await expectStory(lab, ["ADD gamma net1", "DEL gamma net1", "DEL beta eth0", "DEL alpha eth0"]);
});

test("a swap of one interface detaches first; when the new network fails, the old one comes back", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await lab.script("delta.ADD", 'echo \'{"cniVersion":"1.0.0","code":77,"msg":"no luck"}\'; exit 1');
  await annotate(lab, [{ name: "third", interface: "net1" }]);
  expect(await untilFailed(lab)).toContain("no luck");
  await untilNetworks(lab, ["second net1"]);
  await expectStory(lab, ["DEL gamma net1", "ADD delta net1", "DEL delta net1", "DEL gamma net1", "ADD gamma net1"]);
  await lab.unscript("delta.ADD");
  await annotate(lab, [{ name: "third", interface: "net1", mac: "02:00:00:00:00:01" }]);
  await untilNetworks(lab, ["third net1"]);
  expectSuccess(await lab.cni("DEL", call));
});

test("a missing annotation detaches only after a while, and not if it comes back", async () => {
  await using lab = await makePlugNode({ gcGraceMs: 800 });
  await runPod(lab);
  await annotate(lab, undefined);
  await pause(400);
  await annotate(lab, "second");
  await pause(1_000);
  await expectStory(lab, []);
  await annotate(lab, undefined);
  await untilNetworks(lab, []);
  await expectStory(lab, ["DEL gamma net1"]);
});

test("an empty annotation, as KubeVirt writes it for a machine without second networks, detaches at once", async () => {
  await using lab = await makePlugNode({ gcGraceMs: 600_000 });
  await runPod(lab);
  await annotate(lab, "");
  await untilNetworks(lab, []);
  await expectStory(lab, ["DEL gamma net1"]);
});

test("an interface that is not ours is never touched", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  const netns = call.netns.slice(call.netns.lastIndexOf("/") + 1);
  ip(["-n", netns, "link", "add", "net2", "type", "veth", "peer", "name", "other0"]);
  await annotate(lab, "second,third");
  expect(await untilFailed(lab)).toContain("that Levee did not make");
  await expectStory(lab, []);
  expect(ip(["-n", netns, "-o", "link", "show"])).toContain("net2");
  await untilNetworks(lab, ["second net1"]);
});

test("isolation is checked again, and a wrong annotation changes nothing", async () => {
  await using lab = await makePlugNode({ namespaceIsolation: true });
  await runPod(lab);
  await lab.network("far", { cniVersion: "1.0.0", name: "far", ...lab.conf("delta") }, "elsewhere");
  await annotate(lab, "second,elsewhere/far");
  expect(await untilFailed(lab)).toContain("namespace isolation enabled");
  await annotate(lab, "second,UPPER");
  await pause(300);
  await untilNetworks(lab, ["second net1"]);
  await expectStory(lab, []);
});

test("the primary's name, default-route and an unknown network are refused with the reason", async () => {
  await using lab = await makePlugNode();
  await runPod(lab);
  await annotate(lab, [{ name: "second" }, { name: "third", interface: "eth0" }]);
  expect(await untilFailed(lab)).toContain("has that interface name in the pod");
  await annotate(lab, [{ name: "second" }, { "name": "third", "default-route": ["10.9.0.1"] }]);
  await annotate(lab, "second,nowhere");
  await pause(300);
  await untilNetworks(lab, ["second net1"]);
  await expectStory(lab, []);
});

test("the runtime's DEL ends a change that is under way and removes what it began", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await lab.script("delta.ADD", "sleep 60");
  await annotate(lab, "second,third");
  await untilRunning(lab, "ADD", "delta");
  expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab, "DEL")).toEqual(["DEL delta net2", "DEL gamma net1", "DEL beta eth0", "DEL alpha eth0"]);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("with hotPlug off nothing changes", async () => {
  await using lab = await makePlugNode({ hotPlug: false });
  await runPod(lab);
  await annotate(lab, "third");
  await pause(500);
  await expectStory(lab, []);
});

test("a pod that comes back after a failed change gets its networks", async () => {
  await using lab = await makePlugNode();
  await runPod(lab);
  await annotate(lab, "second,nowhere");
  expect(await untilFailed(lab)).toContain("nowhere");
  await rm(lab.path("directory/pods/default.web.json"));
  await pause(500);
  await annotate(lab, "second,third");
  await untilNetworks(lab, ["second net1", "third net2"]);
});

test("a change that waits for a hand is made as soon as one connects", async () => {
  await using lab = await makePlugNode({ undoRetryMs: 60_000 });
  await runPod(lab);
  await lab.killHand();
  await annotate(lab, "second,third");
  await pause(500);
  await expectStory(lab, []);
  await lab.startHand();
  await untilNetworks(lab, ["second net1", "third net2"], 2_000);
});
