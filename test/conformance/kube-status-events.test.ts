// COMPAT 2.3, 4.3 and 8: what the API server is told of a pod's networks, also when it is slow, unwilling or away.
import { expect, test } from "bun:test";
import { containerId, errorOf, networksAnnotation, resultOf } from "./node.ts";
import { KubeNode } from "./kube-node.ts";

const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

const twoNetworks = `[{
    "name": "primary",
    "interface": "eth0",
    "ips": [
        "10.0.0.2"
    ],
    "default": true,
    "dns": {}
},{
    "name": "default/net-a",
    "interface": "net1",
    "ips": [
        "10.1.1.2"
    ],
    "dns": {}
}]`;

function isPatch({ method }: { readonly method: string }): boolean {
  return method === "PATCH";
}

async function written(node: KubeNode, pods: readonly string[]): Promise<void> {
  const isWritten = (): true | undefined => node.api.patches.length >= pods.length || undefined;
  await node.lab.until("the statuses are written", () => Promise.resolve(isWritten()), 30_000);
  expect(node.api.patches.map(({ pod }) => pod)).toEqual([...pods]);
}

test("network-status has Multus' bytes and is written for the pod with that UID", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web", { [networksAnnotation]: "net-a" });
  resultOf((await node.add("web", { uid: "uid-of-web" })).outcome);
  await written(node, ["web"]);
  expect(node.api.patches).toEqual([
    { pod: "web", body: { metadata: { uid: "uid-of-web", annotations: { [statusAnnotation]: twoNetworks } } } },
  ]);
  const isNoted = async (): Promise<true | undefined> =>
    (await node.timeline("web")).includes("published") || undefined;
  await node.lab.until("the timeline says so", isNoted);
});

test("an ADD that fails after its first network has no event of an interface", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  for (const pod of ["failed", "web"]) node.api.pod(pod, { [networksAnnotation]: "net-a" });
  await node.lab.script("second.ADD", '[ "${CNI_CONTAINERID#failed}" = "$CNI_CONTAINERID" ] || exit 1');
  errorOf((await node.add("failed")).outcome);
  resultOf((await node.add("web")).outcome);
  const added = (): readonly unknown[] =>
    node.api.events.filter(({ reason }) => reason === "AddedInterface").map((event) => event["involvedObject"]);
  await node.lab.until("the events of the other pod are told", () => Promise.resolve(added().length >= 2 || undefined));
  expect(added()).toMatchObject([{ name: "web" }, { name: "web" }]);
});

test("each interface has Multus' event", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web", { [networksAnnotation]: "net-a" });
  resultOf((await node.add("web", { uid: "uid-of-web" })).outcome);
  const ofPod = (): readonly Record<string, unknown>[] =>
    node.api.events.filter(({ reason }) => reason === "AddedInterface");
  await node.lab.until("the events are told", () => Promise.resolve(ofPod().length === 2 || undefined));
  expect(ofPod()).toMatchObject(
    ["Add eth0 [10.0.0.2/24] from primary", "Add net1 [10.1.1.2/24] from default/net-a"].map((message) => ({
      type: "Normal",
      message,
      source: { component: "multus" },
      involvedObject: { kind: "Pod", namespace: "default", name: "web", uid: "uid-of-web" },
    })),
  );
});

test("a missing network has Multus' error and event", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web", { [networksAnnotation]: "net3" });
  const text =
    'cannot find a network-attachment-definition (net3) in namespace (default): networkattachmentdefinition.k8s.cni.cncf.io "net3" not found';
  expect(errorOf((await node.add("web")).outcome)).toMatchObject({ code: 101, msg: text });
  const told = (): true | undefined => node.api.events.some(({ reason }) => reason === "NoNetworkFound") || undefined;
  await node.lab.until("the event is told", () => Promise.resolve(told()));
  expect(node.api.events.filter(({ reason }) => reason === "NoNetworkFound")).toMatchObject([
    { type: "Warning", message: text, count: 1 },
  ]);
});

test("a status that is not answered does not hold ADD, and is written in the background", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web");
  let isSilent = true;
  let silences = 0;
  node.api.mood = (request) => {
    if (!isSilent || !isPatch(request)) return undefined;
    silences += 1;
    return "silent";
  };
  const { outcome, tookMs } = await node.add("web");
  resultOf(outcome);
  expect(tookMs).toBeLessThan(2_000);
  await node.lab.until("the status is sent", () => Promise.resolve(silences > 0 || undefined));
  isSilent = false;
  await written(node, ["web"]);
  expect((await node.timeline("web")).join("\n")).toMatch(
    /acknowledged\n.*publishing: network-status is tried again: .*/,
  );
});

test("statuses of an outage are delivered when it ends, oldest first, less those of pods that are gone", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  const pods = ["one", "two", "three"];
  for (const pod of pods) node.api.pod(pod);
  node.api.mood = (request) => (isPatch(request) ? 503 : undefined);
  for (const pod of pods) resultOf((await node.add(pod)).outcome);
  const call = { containerId: containerId("two"), args: node.lab.podArgs("two") };
  expect((await node.lab.cni("DEL", call)).exitCode).toBe(0);
  node.api.mood = () => undefined;
  await written(node, ["one", "three"]);
});

test("a status that was not delivered when the daemon was killed is published by the next one", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web");
  node.api.mood = (request) => (isPatch(request) ? 503 : undefined);
  resultOf((await node.add("web")).outcome);
  await node.lab.killDaemon();
  node.api.mood = () => undefined;
  await node.lab.startDaemon();
  await written(node, ["web"]);
});

test("a missing permission fails no ADD, and is said in the notices", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web");
  node.api.mood = (request) => (isPatch(request) ? 403 : undefined);
  resultOf((await node.add("web")).outcome);
  const isSaid = async (): Promise<true | undefined> =>
    (await node.lab.untilReady()).notices.join("\n").includes("refuses some network-status annotations") || undefined;
  await node.lab.until("the notices say so", isSaid);
});
