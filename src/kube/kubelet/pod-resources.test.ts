import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import type { Http2Server, ServerHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { kubeletSocket, podMessage, protoMessage, respond } from "./kubelet.fixture.ts";
import { allotmentOf, podResources } from "./pod-resources.ts";

let folder = "";
let server: Http2Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-kubelet-"));
});
afterEach(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

async function ask(answer: (stream: ServerHttp2Stream, method: string) => void, limitMs = 5_000) {
  const socketPath = join(folder, "kubelet.sock");
  server = await kubeletSocket(socketPath, answer);
  return podResources({
    socketPath,
    namespace: "default",
    name: "vm",
    limitMs,
    clock: systemClock,
    signal: new AbortController().signal,
  });
}

const list = protoMessage([
  [1, podMessage("other", "vm", [["intel.com/sriov", ["0000:00:00.9"]]])],
  [
    1,
    podMessage("default", "vm", [
      ["intel.com/sriov", ["0000:03:02.2", "0000:03:02.1"]],
      ["example.com/x", []],
    ]),
  ],
]);

test("podResources keeps this pod's devices, sorted", async () => {
  let method = "";
  const { devices } = await ask((stream, path) => {
    method = path;
    respond(stream, list);
  });
  expect(method).toBe("/v1.PodResourcesLister/List");
  expect([...devices]).toEqual([["intel.com/sriov", ["0000:03:02.1", "0000:03:02.2"]]]);
});

test("podResources reads an answer of several frames", async () => {
  const many = Array.from(
    { length: 2_000 },
    (_, index) => [1, podMessage("default", `pod-${index}`, [["a/b", [`id-${index}`]]])] as const,
  );
  const { devices } = await ask((stream) => respond(stream, protoMessage([...many, [1, list.subarray(0, 0)]])));
  expect(devices.size).toBe(0);
});

test("allotmentOf takes a claim's devices by the claim's name and the end of the CDI name", () => {
  const claimResource = protoMessage([[1, protoMessage([[1, "vendor.com/net=eth7"]])]]);
  const container = protoMessage([
    [
      5,
      protoMessage([
        [2, "my-claim"],
        [4, claimResource],
      ]),
    ],
  ]);
  const pod = protoMessage([
    [1, "vm"],
    [2, "default"],
    [3, container],
  ]);
  const { devices, claims } = allotmentOf(protoMessage([[1, pod]]), { namespace: "default", name: "vm" });
  expect([...devices]).toEqual([["my-claim", ["eth7"]]]);
  expect([...claims]).toEqual(["my-claim"]);
});

test("podResources tells the kubelet's refusal", async () => {
  expect(ask((stream) => respond(stream, list, "7"))).rejects.toThrow(
    /Cannot call \/v1.PodResourcesLister\/List on .*kubelet.sock: gRPC status 7: said no/,
  );
});

test("podResources refuses half an answer", async () => {
  const half = (stream: ServerHttp2Stream): void => {
    stream.respond({ ":status": 200 });
    stream.end(Buffer.from([0, 0, 0, 1, 0, 1, 2]));
  };
  expect(ask(half)).rejects.toThrow(/the answer of 7 bytes is not one whole message/);
});

test("podResources gives up on a kubelet that hangs", async () => {
  expect(ask(() => undefined, 50)).rejects.toThrow(
    /Cannot find the pod's devices: the kubelet did not answer on .* within 50 ms/,
  );
});

test("podResources names the socket that refuses it", async () => {
  const asked = podResources({
    socketPath: join(folder, "nobody.sock"),
    namespace: "a",
    name: "b",
    limitMs: 1_000,
    clock: systemClock,
    signal: new AbortController().signal,
  });
  expect(asked).rejects.toThrow(/Cannot call .* on .*nobody.sock/);
});
