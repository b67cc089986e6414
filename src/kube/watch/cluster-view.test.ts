import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Namespace, PodName } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import { KubeError } from "../client/api.ts";
import { ClusterView } from "./cluster-view.ts";
import { FakeApi, gone, page, type FakeWatch } from "../client/fake-api.fixture.ts";
import { ManualClock, settleIo } from "../manual-clock.fixture.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { WantedPod } from "../../view/view.ts";

const ns = "lab" as Namespace;
const web = "web" as PodName;
const definitions = "network-attachment-definitions";

let clock: ManualClock;
let api: FakeApi;
let pods: unknown[];
let networks: () => unknown;
let view: ClusterView;

beforeEach(() => {
  clock = new ManualClock();
  api = new FakeApi();
  pods = [];
  networks = () => page("10", []);
  api.onCall = ({ pathname }) => (pathname.endsWith(definitions) ? networks() : page("10", pods));
});

afterEach(async () => view.close());

async function open(): Promise<void> {
  view = new ClusterView({ api, clock, logger: silentLogger, nodeName: "node-1" });
  await settleIo();
}

function pod(
  name: string,
  fields: { uid?: string; annotations?: object; spec?: object; deletionTimestamp?: string } = {},
): unknown {
  const { uid = "u1", annotations, spec = {}, ...metadata } = fields;
  return {
    metadata: { namespace: ns, name, uid, resourceVersion: "11", annotations, ...metadata },
    spec: { nodeName: "node-1", containers: [{}], ...spec },
    status: { phase: "Pending" },
  };
}

function network(name: string, config: unknown, annotations?: object): unknown {
  return {
    metadata: { namespace: ns, name, uid: `uid-${name}`, resourceVersion: "11", annotations },
    spec: { config },
  };
}

function watchOf(path: string): FakeWatch {
  const found = api.watches.findLast(({ url }) => url.pathname.endsWith(path));
  if (found === undefined) throw new Error(`there is no watch of ${path}`);
  return found;
}

function wanted(uid: string): WantedPod {
  return { namespace: ns, name: web, isWanted: (found: PodFacts) => found.uid === uid };
}

test("ClusterView asks for this node's pods and for all networks", async () => {
  await open();
  expect(api.calls.map(({ pathname, search }) => pathname + search)).toEqual([
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&resourceVersion=0&resourceVersionMatch=NotOlderThan",
    "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions?resourceVersion=0&resourceVersionMatch=NotOlderThan",
  ]);
});

test("ClusterView keeps the fields of a pod that decide its networks", async () => {
  const annotations = {
    "k8s.v1.cni.cncf.io/networks": "a",
    "v1.multus-cni.io/default-network": "b",
    "k8s.v1.cni.cncf.io/network-status": "[]",
    "kubernetes.io/config.source": "file",
    "kubernetes.io/config.mirror": "hash",
  };
  pods = [
    pod("web", { annotations: { ...annotations, other: "x".repeat(100) }, spec: { priority: 5, hostNetwork: true } }),
    pod("bare", { deletionTimestamp: "2026-01-01T00:00:00Z", annotations: { "kubernetes.io/config.source": "api" } }),
  ];
  await open();
  expect(await view.findPod(ns, web)).toEqual({
    namespace: ns,
    name: web,
    uid: "u1" as PodFacts["uid"],
    annotations,
    priority: 5,
    isStatic: true,
    phase: "Pending",
    hostNetwork: true,
    isDeleting: false,
  });
  expect(await view.findPod(ns, "bare" as PodName)).toMatchObject({
    priority: undefined,
    isStatic: false,
    hostNetwork: false,
    isDeleting: true,
  });
  expect([...view.pods()].length).toBe(2);
});

test("ClusterView keeps a network's configuration as it is, and an empty one as undefined", async () => {
  const config = '{"a": 1500.0, "b": 9007199254740993}';
  const resource = { "k8s.v1.cni.cncf.io/resourceName": "intel.com/x" };
  networks = () =>
    page("10", [network("lan", config, { ...resource, other: "y" }), network("file", ""), network("odd", 7)]);
  await open();
  expect(await view.findNetwork(ns, "lan")).toEqual({
    namespace: ns,
    name: "lan",
    uid: "uid-lan",
    config,
    annotations: resource,
  });
  expect(await view.findNetwork(ns, "file")).toMatchObject({ config: undefined, annotations: {} });
  expect(await view.findNetwork(ns, "odd")).toMatchObject({ config: undefined });
  expect([...view.networks()].map(({ name }) => name)).toEqual(["lan", "file", "odd"]);
});

test("ClusterView.waitForPod resolves on the event that brings the right pod", async () => {
  pods = [pod("web", { uid: "old" })];
  await open();
  const waiting = view.waitForPod(wanted("new"), new AbortController().signal);
  watchOf("pods").event("MODIFIED", pod("web", { uid: "old", deletionTimestamp: "2026-01-01T00:00:00Z" }));
  watchOf("pods").event("ADDED", pod("other", { uid: "new" }));
  watchOf("pods").event("ADDED", pod("web", { uid: "new" }));
  expect((await waiting).uid).toBe("new" as PodFacts["uid"]);
  expect((await view.waitForPod(wanted("new"), new AbortController().signal)).name).toBe(web);
});

test("ClusterView.waitForPod rejects with its signal's reason, and when the view is closed", async () => {
  await open();
  const controller = new AbortController();
  const waiting = view.waitForPod(wanted("u1"), controller.signal);
  const closed = view.waitForPod(wanted("u1"), new AbortController().signal);
  controller.abort(new Error("too late"));
  expect(waiting).rejects.toThrow("too late");
  expect(view.waitForPod(wanted("u1"), controller.signal)).rejects.toThrow("too late");
  await view.close();
  expect(closed).rejects.toMatchObject({ code: "cancelled" });
});

test("ClusterView serves pods without networks where the definition is missing, and finds them once it is there", async () => {
  networks = () => {
    throw new KubeError("api-refused", "no such resource", { status: 404 });
  };
  pods = [pod("web")];
  await open();
  expect(view.synced()).toBe(true);
  expect(await view.findPod(ns, web)).toBeDefined();
  expect(view.health().networks).toMatchObject({ isSynced: false, lastError: "no such resource" });
  networks = () => page("10", [network("lan", "{}")]);
  await clock.advance(1000);
  expect(await view.findNetwork(ns, "lan")).toBeDefined();
});

test("ClusterView is not synced while networks are refused for any other reason", async () => {
  networks = () => {
    throw new KubeError("api-refused", "forbidden", { status: 403 });
  };
  await open();
  await view.podsSynced();
  expect(view.synced()).toBe(false);
});

test("ClusterView.readPod and readNetwork ask the server once, and know a 404 from a failure", async () => {
  await open();
  api.onCall = ({ pathname }) => (pathname.endsWith("/web") ? pod("web") : network("lan", "{}"));
  expect(await view.readPod(ns, web, 100)).toMatchObject({ name: web });
  expect(await view.readNetwork(ns, "lan", 100)).toMatchObject({ name: "lan" });
  expect(api.calls.slice(2).map(({ pathname }) => pathname)).toEqual([
    "/api/v1/namespaces/lab/pods/web",
    "/apis/k8s.cni.cncf.io/v1/namespaces/lab/network-attachment-definitions/lan",
  ]);
  expect(await view.findPod(ns, web)).toBeUndefined();
  api.onCall = () => {
    throw new KubeError("api-refused", "none", { status: 404 });
  };
  expect(await view.readPod(ns, web, 100)).toBeUndefined();
  api.onCall = () => "<html>";
  expect(view.readPod(ns, web, 100)).rejects.toMatchObject({ code: "api-unreachable" });
  api.onCall = () => "{}";
  expect(view.readPod(ns, web, 100)).rejects.toMatchObject({ code: "api-unreachable" });
});

test("ClusterView tells changes of pods and networks until the listener is taken off", async () => {
  await open();
  const seen: string[] = [];
  const cancel = view.onNetworkChange(({ now }) => seen.push(`network ${now?.name ?? "gone"}`));
  view.onPodChange(({ now }) => seen.push(`pod ${now?.name ?? "gone"}`));
  watchOf(definitions).event("ADDED", network("lan", "{}"));
  watchOf("pods").event("ADDED", pod("web"));
  await settleIo();
  cancel();
  watchOf(definitions).event("DELETED", network("lan", "{}"));
  watchOf("pods").event("DELETED", pod("web"));
  await settleIo();
  expect(seen.toSorted()).toEqual(["network lan", "pod gone", "pod web"]);
});

test("ClusterView keeps no configuration that is too long to be used, and reads it when asked to", async () => {
  const long = network("long", "x".repeat(300_000));
  networks = () => page("10", [network("lan", "{}"), long]);
  await open();
  expect(await view.findNetwork(ns, "lan")).toMatchObject({ config: "{}" });
  const kept = await view.findNetwork(ns, "long");
  expect(kept?.isElided).toBe(true);
  expect(kept?.config?.length).toBeLessThan(200);
  networks = () => long;
  api.onCall = () => long;
  expect((await view.readNetwork(ns, "long", 1_000))?.config?.length).toBe(300_000);
});

test("ClusterView keeps no annotation of a network that can be no resource's name", async () => {
  const key = "k8s.v1.cni.cncf.io/resourceName";
  networks = () =>
    page("10", [
      network("good", "{}", { [key]: "intel.com/vf" }),
      network("bad", "{}", { [key]: "x".repeat(200_000) }),
    ]);
  await open();
  expect((await view.findNetwork(ns, "good"))?.annotations).toEqual({ [key]: "intel.com/vf" });
  expect((await view.findNetwork(ns, "bad"))?.annotations).toEqual({});
});

test("ClusterView lists again over half a minute after the server has forgotten all places, as every node has one", async () => {
  clock.chance = 0.5;
  let lists = 0;
  networks = () => {
    lists += 1;
    return page("10", []);
  };
  await open();
  expect(lists).toBe(1);
  watchOf(definitions).fail(gone());
  watchOf("pods").fail(gone());
  await settleIo();
  await clock.advance(14_000);
  expect(lists).toBe(1);
  await clock.advance(2_000);
  expect(lists).toBe(2);
});
