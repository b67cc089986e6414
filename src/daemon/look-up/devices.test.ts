import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Http2Server, ServerHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { Namespace, NetworkName, PodName, PodUid } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { kubeletSocket, podMessage, protoMessage, respond } from "../../kube/kubelet/kubelet.fixture.ts";
import { withDevices } from "./devices.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

let kubeletDir = "";
let server: Http2Server | undefined;
beforeEach(async () => {
  kubeletDir = await mkdtemp(join(tmpdir(), "levee-kubelet-"));
  await mkdir(join(kubeletDir, "pod-resources"));
  await mkdir(join(kubeletDir, "device-plugins"));
  notes = [];
});
afterEach(async () => {
  server?.close();
  await rm(kubeletDir, { recursive: true, force: true });
});

const pod: PodFacts = {
  namespace: "default" as Namespace,
  name: "vm" as PodName,
  uid: "u1" as PodUid,
  annotations: {},
  priority: undefined,
  isStatic: false,
};

function source(resourceName?: string): NetworkSource {
  const conf = {} as NetworkSource["conf"]; // not read here
  return { network: "default/n" as NetworkName, conf, ...(resourceName === undefined ? {} : { resourceName }) };
}

let notes: string[] = [];

async function devicesOf(defaultResource: string | undefined, ...others: (string | undefined)[]) {
  const networks = {
    defaultNetwork: source(defaultResource),
    others: others.map((name) => ({ source: source(name) })),
  };
  const { signal } = new AbortController();
  const equipped = await withDevices(networks, pod, {
    kubeletDir,
    clock: systemClock,
    limitMs: 1_000,
    signal,
    note: (detail) => notes.push(detail),
  });
  return [equipped.defaultNetwork, ...equipped.others.map((other) => other.source)].map(
    ({ resource }) => resource?.deviceId,
  );
}

test("withDevices gives each device once, in order, and asks the kubelet once and only if needed", async () => {
  let asked = 0;
  server = await kubeletSocket(join(kubeletDir, "pod-resources/kubelet.sock"), (stream) => {
    asked += 1;
    respond(stream, protoMessage([[1, podMessage("default", "vm", [["x/y", ["d2", "d1"]]])]]));
  });
  expect(await devicesOf(undefined, undefined)).toEqual([undefined, undefined]);
  expect(asked).toBe(0);
  expect(await devicesOf("x/y", undefined, "x/y", "x/y", "x/z")).toEqual(["d1", undefined, "d2", undefined, undefined]);
  expect(asked).toBe(1);
});

async function writeCheckpoint(): Promise<void> {
  const entry = { PodUID: "u1", ResourceName: "x/y", DeviceIDs: { "0": ["d1"] } };
  await writeFile(
    join(kubeletDir, "device-plugins/kubelet_internal_checkpoint"),
    JSON.stringify({ Data: { PodDeviceEntries: [entry] } }),
  );
}

test("withDevices reads the checkpoint where the kubelet has no socket", async () => {
  await writeCheckpoint();
  expect(await devicesOf(undefined, "x/y")).toEqual([undefined, "d1"]);
  expect(notes).toEqual(["default/n gets the device d1 of x/y, from the device plugin"]);
});

for (const [how, answer] of [
  ["is silent", () => undefined],
  ["refuses", (stream: ServerHttp2Stream) => stream.close(2)],
] as const) {
  test(`withDevices reads the checkpoint and says so when the kubelet's socket ${how}`, async () => {
    await writeCheckpoint();
    server = await kubeletSocket(join(kubeletDir, "pod-resources/kubelet.sock"), answer);
    expect(await devicesOf("x/y", undefined)).toEqual(["d1", undefined]);
    expect(notes.length).toBe(2);
    expect(notes[0]).toStartWith("the kubelet's checkpoint has its devices, because the socket failed: Cannot ");
  });
}

test("withDevices does not take a checkpoint without the device for the kubelet's word that there is none", async () => {
  await writeCheckpoint();
  server = await kubeletSocket(join(kubeletDir, "pod-resources/kubelet.sock"), () => undefined);
  expect(devicesOf("x/y", "x/y")).rejects.toThrow(/the kubelet did not answer on .*kubelet.sock within 500 ms/);
});

test("withDevices names socket and checkpoint when both are missing", async () => {
  expect(devicesOf(undefined, "x/y")).rejects.toThrow(
    /Cannot find the devices of default\/vm: there is no .*kubelet.sock, and .*kubelet_internal_checkpoint/,
  );
});
