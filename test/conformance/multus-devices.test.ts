// COMPAT 4.6: a network made of a resource's devices gets one that the kubelet allotted to the pod.
import { expect, test } from "bun:test";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import type { Http2Server } from "node:http2";
import { kubeletSocket, podMessage, protoMessage, respond } from "../../src/kube/kubelet/kubelet.fixture.ts";
import type { Lab } from "../lab/lab.ts";
import {
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
} from "./node.ts";

const info = '{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:03:02.1"}}';

/** A node whose network `sriov` is made of `intel.com/sriov` devices, and whose kubelet says what `web` was given. */
async function startDeviceNode(): Promise<Lab> {
  return startNode({
    prepare: async (lab) => {
      const conf = {
        cniVersion: "1.0.0",
        ...lab.conf("second", { capabilities: { deviceID: true, CNIDeviceInfoFile: true } }),
      };
      const annotations = { "k8s.v1.cni.cncf.io/resourceName": "intel.com/sriov" };
      const definition = {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: { name: "sriov", namespace: "default", annotations },
        spec: { config: JSON.stringify(conf) },
      };
      await writeFile(lab.path("directory/networks/sriov.json"), JSON.stringify(definition));
      const settings = JSON.parse(await readFile(lab.path("daemon-config.json"), "utf8")) as Record<string, unknown>;
      await lab.configure({ ...settings, kubeletDir: lab.path("kubelet"), deviceInfoDir: lab.path("devinfo") });
      await mkdir(lab.path("kubelet/pod-resources"), { recursive: true });
      await mkdir(lab.path("kubelet/device-plugins"), { recursive: true });
      await mkdir(lab.path("devinfo/dp"), { recursive: true });
      await writeFile(lab.path("devinfo/dp/intel.com-sriov-0000:03:02.1-device.json"), info);
    },
  });
}

function kubeletOf(lab: Lab, ids: string[]): Promise<Http2Server> {
  const answer = protoMessage([[1, podMessage("default", "web", [["intel.com/sriov", ids]])]]);
  return kubeletSocket(lab.path("kubelet/pod-resources/kubelet.sock"), (stream) => respond(stream, answer));
}

test("the device goes into the plugin's conf and runtimeConfig, its description beside it, and both end with DEL", async () => {
  await using lab = await startDeviceNode();
  const kubelet = await kubeletOf(lab, ["0000:03:02.2", "0000:03:02.1"]);
  try {
    await lab.pod("web", { [networksAnnotation]: "sriov" });
    const id = containerId("device");
    const call = { containerId: id, netns: lab.netns("a"), args: lab.podArgs("web") };
    resultOf(await lab.cni("ADD", call));
    const file = lab.path(`devinfo/cni/default-sriov-${id}_net1`);
    expect(stdinOf(await onlyCall(lab, "ADD", "second"))).toMatchObject({
      deviceID: "0000:03:02.1",
      pciBusID: "0000:03:02.1",
      runtimeConfig: { deviceID: "0000:03:02.1", CNIDeviceInfoFile: file },
    });
    expect(await readFile(file, "utf8")).toBe(info);
    expectSilence(await lab.cni("DEL", call));
    expect(stdinOf(await onlyCall(lab, "DEL", "second"))).toMatchObject({ deviceID: "0000:03:02.1" });
    expect(await readdir(lab.path("devinfo/cni"))).toEqual([]);
  } finally {
    kubelet.close();
  }
});

test("two networks of one resource get two devices", async () => {
  await using lab = await startDeviceNode();
  const kubelet = await kubeletOf(lab, ["d2", "d1"]);
  try {
    await lab.pod("web", { [networksAnnotation]: "sriov,sriov" });
    const call = { containerId: containerId("two"), netns: lab.netns("a"), args: lab.podArgs("web") };
    resultOf(await lab.cni("ADD", call));
    const calls = (await lab.calls()).filter(({ plugin, command }) => plugin === "second" && command === "ADD");
    expect(calls.map((one) => stdinOf(one)["deviceID"])).toEqual(["d1", "d2"]);
    expectSilence(await lab.cni("DEL", call));
  } finally {
    kubelet.close();
  }
});

test("without a kubelet to ask the pod is refused, with both places named, and nothing runs", async () => {
  await using lab = await startDeviceNode();
  await lab.pod("web", { [networksAnnotation]: "sriov" });
  const outcome = await lab.cni("ADD", {
    containerId: containerId("none"),
    netns: lab.netns("a"),
    args: lab.podArgs("web"),
  });
  expect(errorOf(outcome).msg).toContain("kubelet.sock");
  expect(errorOf(outcome).msg).toContain("kubelet_internal_checkpoint");
  expect(await lab.calls()).toEqual([]);
});
