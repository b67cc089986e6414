import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import type { Http2Server } from "node:http2";
import { kubeletSocket, podMessage, protoMessage, respond } from "../../src/kube/kubelet/kubelet.fixture.ts";
import type { TimelineAnswer } from "../../src/wire/node-view.ts";
import { KubeNode } from "../conformance/kube-node.ts";
import { expectSuccess, pause, story, type PodCall } from "../crash/crash-node.ts";
import { ip, type Lab } from "../lab/lab.ts";
import { annotate, expectStory, makePlugNode, networksOfPod, runPod, untilFailed, untilNetworks } from "./plug-node.ts";

// Real processes on a machine that may be busy with other tests.
setDefaultTimeout(60_000);

const key = "k8s.v1.cni.cncf.io/networks";
const broken = 'echo \'{"cniVersion":"1.0.0","code":77,"msg":"no luck"}\'; exit 1';

test("a static pod, a pod of the host's network and one that ends keep their networks", async () => {
  const node = await KubeNode.start((api) => ["fixed", "host", "ending", "web"].forEach((name) => api.pod(name, {})));
  await using lab = node.lab;
  await using api = node.api;
  await lab.startHand();
  await node.synced();
  for (const pod of ["fixed", "host", "ending", "web"])
    expectSuccess((await node.add(pod, { uid: `uid-of-${pod}` })).outcome);
  await lab.forgetCalls();
  const wanted = { [key]: "net-a" };
  api.pod("fixed", { ...wanted, "kubernetes.io/config.mirror": "hash", "kubernetes.io/config.source": "file" });
  api.podWith("host", wanted, { spec: { hostNetwork: true } });
  api.podWith("ending", wanted, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  // The watch tells the pods in their order, so this one comes after the others.
  api.pod("web", wanted);
  await lab.until("web has its network", async () => (await story(lab))[0]);
  await pause(300);
  const containers = (await lab.calls()).map(({ containerId, command }) => `${command} ${containerId.slice(0, 3)}`);
  expect(containers).toEqual(["ADD web"]);
});

test("an interface name that something else takes in the middle of a swap is not touched", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  const netns = call.netns.slice(call.netns.lastIndexOf("/") + 1);
  const once = lab.path("once");
  // The second DEL removes the interface of that name, as the real plugins do.
  const lines = [
    "PATH=/usr/sbin:/sbin:/usr/bin:/bin",
    `if [ -e ${once} ]; then ip -n ${netns} link delete net1`,
    `else : >${once}; ip -n ${netns} link add net1 type veth peer name other0; fi`,
  ];
  await lab.script("gamma.DEL", lines.join("\n"));
  await annotate(lab, [{ name: "third", interface: "net1" }]);
  expect(await untilFailed(lab)).toContain("that Levee did not make");
  await untilNetworks(lab, []);
  await expectStory(lab, ["DEL gamma net1"]);
  expect(ip(["-n", netns, "-o", "link", "show"])).toContain("net1");
  // The name is free again.
  ip(["-n", netns, "link", "delete", "net1"]);
  await untilNetworks(lab, ["third net1"]);
  expectSuccess(await lab.cni("DEL", call));
});

/** A node whose networks `sriov` and `other` are made of `intel.com/sriov` devices. */
async function makeDeviceNode(): Promise<Lab> {
  const lab = await makePlugNode();
  const settings = JSON.parse(await readFile(lab.path("daemon-config.json"), "utf8")) as Record<string, unknown>;
  await lab.configure({ ...settings, kubeletDir: lab.path("kubelet"), deviceInfoDir: lab.path("devinfo") });
  const capabilities = { deviceID: true, CNIDeviceInfoFile: true };
  for (const name of ["sriov", "other"]) {
    const conf = { cniVersion: "1.0.0", name, ...lab.conf(name === "sriov" ? "delta" : "epsilon", { capabilities }) };
    await lab.network(name, conf, "default", { "k8s.v1.cni.cncf.io/resourceName": "intel.com/sriov" });
  }
  for (const folder of ["kubelet/pod-resources", "kubelet/device-plugins", "devinfo/dp"])
    await mkdir(lab.path(folder), { recursive: true });
  await writeFile(lab.path("devinfo/dp/intel.com-sriov-d1-device.json"), '{"type":"pci","version":"1.1.0"}');
  return lab;
}

/** The kubelet's socket, which says which devices the pod was given. */
async function kubeletOf(lab: Lab, devices: string[]): Promise<Http2Server & AsyncDisposable> {
  const answer = protoMessage([[1, podMessage("default", "web", [["intel.com/sriov", devices]])]]);
  return kubeletSocket(lab.path("kubelet/pod-resources/kubelet.sock"), (stream) => respond(stream, answer));
}

async function devicesOf(lab: Lab, command: string): Promise<readonly unknown[]> {
  const calls = (await lab.calls()).filter((call) => call.command === command);
  return calls.map(({ stdin }) => (JSON.parse(stdin) as { deviceID?: unknown }).deviceID);
}

/** What `levee why` shows of the devices of plugged networks. */
async function foundByPlug(lab: Lab): Promise<readonly (string | undefined)[]> {
  const { entries } = await lab.ask<TimelineAnswer>({ ask: "timeline", namespace: "default", name: "web" });
  return entries.filter(({ verb, what }) => verb === "PLUG" && what === "found").map(({ detail }) => detail);
}

async function infoFiles(lab: Lab): Promise<readonly string[]> {
  return await readdir(lab.path("devinfo/cni"));
}

async function startDevicePod(lab: Lab): Promise<PodCall> {
  const call = await runPod(lab);
  await annotate(lab, []);
  await untilNetworks(lab, []);
  await lab.forgetCalls();
  return call;
}

test("a network of a device gets the pod's unused one; a second one is refused, and a swap takes it over", async () => {
  await using lab = await makeDeviceNode();
  await using _kubelet = await kubeletOf(lab, ["d1"]);
  const call = await startDevicePod(lab);
  await annotate(lab, "sriov@net1");
  await untilNetworks(lab, ["sriov net1"]);
  expect(await devicesOf(lab, "ADD")).toEqual(["d1"]);
  expect(await foundByPlug(lab)).toEqual([
    "default/sriov gets the device d1 of intel.com/sriov, from the device plugin",
  ]);
  expect(await infoFiles(lab)).toEqual(["default-sriov-c1_net1"]);
  await annotate(lab, "sriov@net1,other@net2");
  expect(await untilFailed(lab)).toContain(
    "it needs an unused device of intel.com/sriov, and the pod's networks use d1",
  );
  expect((await foundByPlug(lab)).slice(1, 3)).toEqual([
    "skipped the device d1: default/sriov has it as net1",
    "default/other gets no device: the pod has no intel.com/sriov left",
  ]);
  expect(await networksOfPod(lab)).toEqual(["sriov net1"]);
  await annotate(lab, "other@net1");
  await untilNetworks(lab, ["other net1"]);
  expect(await story(lab)).toEqual(["ADD delta net1", "DEL delta net1", "ADD epsilon net1"]);
  expect([await devicesOf(lab, "DEL"), await devicesOf(lab, "ADD")]).toEqual([["d1"], ["d1", "d1"]]);
  await lab.until("the description of the old network is gone", async () =>
    Bun.deepEquals(await infoFiles(lab), ["default-other-c1_net1"]) ? true : undefined,
  );
  expectSuccess(await lab.cni("DEL", call));
  expect(await infoFiles(lab)).toEqual([]);
});

test("a network of a device is refused in a pod that has none", async () => {
  await using lab = await makeDeviceNode();
  await using _kubelet = await kubeletOf(lab, []);
  await startDevicePod(lab);
  await annotate(lab, "sriov");
  expect(await untilFailed(lab)).toContain("it needs an unused device of intel.com/sriov, and the pod has none");
  await expectStory(lab, []);
});

test("a network of a device that fails leaves no description of the device", async () => {
  await using lab = await makeDeviceNode();
  await using _kubelet = await kubeletOf(lab, ["d1"]);
  await startDevicePod(lab);
  await lab.script("delta.ADD", broken);
  await annotate(lab, "sriov");
  expect(await untilFailed(lab)).toContain("no luck");
  await annotate(lab, []);
  await pause(300);
  expect(await infoFiles(lab)).toEqual([]);
});
