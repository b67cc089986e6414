import { expect, test } from "bun:test";
import type { IfName, JsonText, Namespace, NetworkName, PodName, PodUid } from "../../base/brand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aChain, aRecord } from "../../state/journal/record.fixture.ts";
import { interfacesGone, isRunning, networksAskedFor, notAttached, recordOfPod } from "./missing-networks.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const multusNamespace = "kube-system" as Namespace;

function pod(change: Partial<PodFacts> = {}): PodFacts {
  const names = { namespace: "shop" as Namespace, name: "web" as PodName, uid: "u1" as PodUid };
  return { ...names, annotations: {}, priority: undefined, isStatic: false, phase: "Running", ...change };
}

function asking(networks: string, more: Readonly<Record<string, string>> = {}): PodFacts {
  return pod({ annotations: { "k8s.v1.cni.cncf.io/networks": networks, ...more } });
}

function attachedTo(networks: readonly string[], change: Partial<AttachmentRecord> = {}): AttachmentRecord {
  const chains = networks.map((network) => aChain({ network: network as NetworkName }));
  return aRecord(1, { phase: "acknowledged", chains, ...change });
}

test.each([
  [pod(), true],
  [pod({ phase: "Succeeded" }), false],
  [pod({ hostNetwork: true }), false],
  [pod({ isDeleting: true }), false],
])("isRunning is true for pods with a sandbox of their own (%#)", (facts, expected) => {
  expect(isRunning(facts)).toBe(expected);
});

test("networksAskedFor reads both annotations, and ignores an unreadable one", () => {
  const both = asking("lan, other/dmz@net7", { "v1.multus-cni.io/default-network": "cbr0" });
  expect(networksAskedFor(both, multusNamespace)).toEqual(["kube-system/cbr0", "shop/lan", "other/dmz"]);
  expect(networksAskedFor(asking("[{"), multusNamespace)).toEqual([]);
  expect(networksAskedFor(pod(), multusNamespace)).toEqual([]);
});

test("recordOfPod takes the newest record of the same pod, not its predecessor's", () => {
  const own = { namespace: "shop" as Namespace, name: "web" as PodName, uid: "u1" as PodUid };
  const older = attachedTo([], { pod: own, startedWallMs: 4 });
  const newer = attachedTo([], { pod: own, startedWallMs: 2 });
  const predecessor = attachedTo([], { pod: { ...own, uid: "u0" as PodUid }, startedWallMs: 3 });
  expect(recordOfPod(pod(), [older, newer, predecessor])).toBe(newer);
  expect(recordOfPod(pod(), [predecessor])).toBeUndefined();
  expect(recordOfPod(pod({ isStatic: true }), [predecessor])).toBe(predecessor);
});

test("notAttached counts a network that is asked for twice, and knows a default network from a file by its name", () => {
  const asked = ["kube-system/cbr0", "shop/lan", "shop/lan", "shop/dmz"];
  const record = attachedTo(["cbr0", "shop/lan"]);
  expect(notAttached(pod(), record, asked).map(({ network }) => network)).toEqual(["shop/lan", "shop/dmz"]);
});

test("notAttached ignores attachments of Multus", () => {
  expect(notAttached(pod(), attachedTo([], { origin: "multus" }), ["shop/lan"])).toEqual([]);
});

const result = (sandbox: string): JsonText =>
  `{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"${sandbox}"}]}` as JsonText;
const here = { names: ["lo", "eth0"], isTruncated: false, users: undefined };

test("interfacesGone finds a missing interface that a plugin made in the sandbox", () => {
  const record = attachedTo(["shop/lan"], { results: [result("/run/netns/pod1")] });
  expect(interfacesGone(pod(), record, here).map(({ network, ifname }) => [network, ifname])).toEqual([
    ["shop/lan", "net1"],
  ]);
  expect(interfacesGone(pod(), record, { ...here, names: ["net1"] })).toEqual([]);
  expect(interfacesGone(pod(), record, { ...here, isTruncated: true })).toEqual([]);
});

test("interfacesGone expects no interface from a plugin that lists none, a device of the pod or an unreadable result", () => {
  const request = { deviceId: "0000:01:00.0" };
  const device = aChain({ ifname: "net1" as IfName, multus: { ...aChain().multus, request } });
  const silent: readonly Partial<AttachmentRecord>[] = [
    { results: [result("")] },
    { results: [undefined] },
    { results: ["[]" as JsonText] },
    { results: [result("/run/netns/pod1")], chains: [device] },
  ];
  for (const change of silent) expect(interfacesGone(pod(), attachedTo(["shop/lan"], change), here)).toEqual([]);
});
