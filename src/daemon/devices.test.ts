import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Http2Server } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Namespace, PodName, PodUid } from "../base/brand.ts";
import { systemClock } from "../base/clock.ts";
import { kubeletSocket, podMessage, protoMessage, respond } from "../kube/kubelet.fixture.ts";
import { PodDevices, resourceNameAnnotation } from "./devices.ts";
import type { NetworkDefinition, PodFacts } from "./view.ts";

let kubeletDir = "";
let server: Http2Server | undefined;
beforeEach(async () => {
  kubeletDir = await mkdtemp(join(tmpdir(), "levee-kubelet-"));
  await mkdir(join(kubeletDir, "pod-resources"));
  await mkdir(join(kubeletDir, "device-plugins"));
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

function network(resource?: string): NetworkDefinition {
  const annotations: Record<string, string> = resource === undefined ? {} : { [resourceNameAnnotation]: resource };
  return { namespace: "default" as Namespace, name: "n", config: "{}", annotations } as NetworkDefinition;
}

function devices(): PodDevices {
  return new PodDevices(pod, { kubeletDir, clock: systemClock, limitMs: 1_000 }, new AbortController().signal);
}

test("deviceFor gives each device once, in order, and asks the kubelet once", async () => {
  let asked = 0;
  server = await kubeletSocket(join(kubeletDir, "pod-resources/kubelet.sock"), (stream) => {
    asked += 1;
    respond(stream, protoMessage([[1, podMessage("default", "vm", [["x/y", ["d2", "d1"]]])]]));
  });
  const mine = devices();
  expect(await mine.deviceFor(network())).toBeUndefined();
  expect(asked).toBe(0);
  expect(await mine.deviceFor(network("x/y"))).toEqual({ resourceName: "x/y", deviceId: "d1" });
  expect(await mine.deviceFor(network("x/y"))).toEqual({ resourceName: "x/y", deviceId: "d2" });
  expect(await mine.deviceFor(network("x/y"))).toBeUndefined();
  expect(await mine.deviceFor(network("x/z"))).toBeUndefined();
  expect(asked).toBe(1);
});

test("deviceFor reads the checkpoint where the kubelet has no socket", async () => {
  const entry = { PodUID: "u1", ResourceName: "x/y", DeviceIDs: { "0": ["d1"] } };
  await writeFile(
    join(kubeletDir, "device-plugins/kubelet_internal_checkpoint"),
    JSON.stringify({ Data: { PodDeviceEntries: [entry] } }),
  );
  expect(await devices().deviceFor(network("x/y"))).toEqual({ resourceName: "x/y", deviceId: "d1" });
});

test("deviceFor says what is missing where there is neither", async () => {
  await expect(devices().deviceFor(network("x/y"))).rejects.toThrow(
    /Cannot tell the devices of default\/vm: there is no .*kubelet.sock, and .*kubelet_internal_checkpoint/,
  );
});
