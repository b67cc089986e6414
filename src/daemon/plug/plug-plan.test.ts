import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Http2Server } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IfName, Namespace, NetworkName, PodUid } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseDaemonConfig } from "../../config/daemon-config.ts";
import { kubeletSocket, podMessage, protoMessage, respond } from "../../kube/kubelet/kubelet.fixture.ts";
import { aChain, aRecord } from "../../state/journal/record.fixture.ts";
import { emptyView, type LiveView } from "../../view/view.ts";
import { ConfCache } from "../look-up/conf-cache.ts";
import { planJoining, type PlugAim, type PlugPlanNeeds } from "./plug-plan.ts";

const vf = "intel.com/vf";
const namespace = "default" as Namespace;

let kubeletDir = "";
let server: Http2Server | undefined;
let notes: string[] = [];
beforeEach(async () => {
  kubeletDir = await mkdtemp(join(tmpdir(), "levee-kubelet-"));
  for (const folder of ["pod-resources", "device-plugins"]) await mkdir(join(kubeletDir, folder));
  notes = [];
});
afterEach(async () => {
  server?.close();
  await rm(kubeletDir, { recursive: true, force: true });
});

/** The pod's claim `net` has a device for each of the requests blue and red. */
const live = {
  isSynced: () => true,
  claims: {
    claim: () =>
      Promise.resolve(["blue", "red", "gpu"].map((name) => ({ driver: "d", pool: "p", device: name, request: name }))),
    published: ({ device }: { readonly device: string }) =>
      Promise.resolve(device === "gpu" ? undefined : { deviceId: `0000:${device}`, resourceName: vf }),
  },
} as unknown as LiveView; // only what is asked here

function definition(name: string, request: string) {
  const annotations = { "k8s.v1.cni.cncf.io/resourceName": vf, "levee.dev/device-request": request };
  return { namespace, name, config: `{"cniVersion":"1.0.0","name":"${name}","type":"delta"}`, annotations };
}

function needs(): PlugPlanNeeds {
  const known = [definition("red", "net/red"), definition("blue", "net/blue"), definition("plain", "")];
  const find = (name: string) => Promise.resolve(known.find((one) => one.name === name));
  return {
    clock: systemClock,
    config: parseDaemonConfig(JSON.stringify({ namespaceIsolation: false, kubeletDir, addLookupMs: 1_000 }), "x"),
    view: { ...emptyView, findNetwork: (_namespace, name) => find(name), live },
    confs: new ConfCache(),
    networkGate: { refuse: () => Promise.resolve() },
    journal: { inNetns: () => [], leaks: () => [] },
    lastConf: () => undefined,
  };
}

/** A chain of the pod that has this device. */
function holds(network: string, ifname: string, deviceId: string, resourceName = vf): Chain {
  const { multus } = aChain();
  const request = { deviceId, resourceName };
  return aChain({
    network: `default/${network}` as NetworkName,
    ifname: ifname as IfName,
    multus: { ...multus, request },
  });
}

async function plug(network: string, chains: readonly Chain[], withClaims = true): Promise<string | undefined> {
  const refs = [{ name: "net", claim: "c", isInStatus: true }];
  const record = aRecord(1, { chains });
  const pod = {
    namespace,
    name: record.pod.name,
    uid: "u1" as PodUid,
    annotations: {},
    priority: undefined,
    isStatic: false,
    ...(withClaims ? { claims: { refs } } : {}),
  };
  const { signal } = new AbortController();
  // The hand is only for the gate.
  const aim = { pod, record, hand: {} as PlugAim["hand"], signal, note: (detail: string) => notes.push(detail) };
  const element = { name: network, namespace, unknownKeys: [] };
  const chain = await planJoining(aim, { leaving: [], joining: { element, ifname: "net5" as IfName } }, needs());
  return chain.multus.request.deviceId;
}

async function kubeletSays(...devices: readonly string[]): Promise<void> {
  const answer = protoMessage([[1, podMessage("default", "pod1", devices.length === 0 ? [] : [[vf, [...devices]]])]]);
  server = await kubeletSocket(join(kubeletDir, "pod-resources/kubelet.sock"), (stream) => respond(stream, answer));
}

async function checkpointSays(...devices: readonly string[]): Promise<void> {
  const entry = { PodUID: "u1", ResourceName: vf, DeviceIDs: { "0": devices } };
  const text = JSON.stringify({ Data: { PodDeviceEntries: [entry] } });
  await writeFile(join(kubeletDir, "device-plugins/kubelet_internal_checkpoint"), text);
}

describe("planJoining of a network that names its device's request", () => {
  test("gives it its device while another network of the pod has one, and tells of both", async () => {
    await kubeletSays();
    expect(await plug("red", [holds("blue", "net1", "0000:blue")])).toBe("0000:red");
    expect(notes).toEqual([
      "skipped the device 0000:blue: default/blue has it as net1",
      "skipped d/p/gpu of the claim c, request gpu: no ResourceSlice of this node has it",
      `default/red gets the device 0000:red of ${vf}, from d/p/red of the claim c, request red`,
    ]);
  });

  test("refuses it with the reason when another network has that device", async () => {
    await kubeletSays();
    expect(plug("red", [holds("red", "net1", "0000:red")])).rejects.toThrow(
      "Cannot give default/red a device of net/red: none of its 1 is of the network's resource and free",
    );
  });
});

describe("planJoining of a network of a device plugin", () => {
  test("gives it an unused device, and refuses it with the reason when none is left", async () => {
    await kubeletSays("d1", "d2");
    expect(await plug("plain", [holds("plain", "net1", "d1")], false)).toBe("d2");
    expect(plug("plain", [holds("plain", "net1", "d1"), holds("plain", "net2", "d2")], false)).rejects.toMatchObject({
      code: "field-unsupported",
      message: expect.stringContaining(`it needs an unused device of ${vf}, and the pod's networks use d1, d2;`),
    });
  });

  test("needs no second device in the checkpoint while the kubelet's socket is silent", async () => {
    await checkpointSays("d1");
    server = await kubeletSocket(join(kubeletDir, "pod-resources/kubelet.sock"), () => undefined);
    expect(await plug("plain", [holds("other", "net1", "o1", "x/other")], false)).toBe("d1");
    expect(notes.at(-1)).toBe(`default/plain gets the device d1 of ${vf}, from the device plugin`);
    expect(plug("plain", [holds("plain", "net1", "d1")], false)).rejects.toThrow("the kubelet did not answer");
  });
});
