import { expect, test } from "bun:test";
import { doorPods } from "../gate.fixture.ts";
import { labelChanges, labelPatch } from "./label-door.ts";

const namespaces = ["levee-system", "kube-system"];

test("labelChanges opens both pods of an allowed node, and touches no other", () => {
  expect(labelChanges(doorPods, new Set(["k8s-master"]), namespaces).map(({ name, to }) => [name, to])).toEqual([
    ["levee-k8s-master", "allow"],
    ["levee-hand-k8s-master", "allow"],
  ]);
  expect(labelChanges(doorPods, new Set(), namespaces)).toEqual([]);
});

test("labelChanges closes first: a pod that says anything but deny on a node that may not reboot", () => {
  const pods = doorPods.map((pod) => (pod.node === "k8s-node2" ? { ...pod, door: "allow" } : pod));
  expect(labelChanges(pods, new Set(["k8s-master"]), namespaces).map(({ to }) => to)).toEqual([
    "deny",
    "deny",
    "allow",
    "allow",
  ]);
});

test("labelChanges puts deny back on pods that have lost their label, and gives such a pod no allow", () => {
  const pods = doorPods.map((pod) => ({ ...pod, door: "" }));
  const changes = labelChanges(pods, new Set(["k8s-master"]), namespaces);
  expect(changes.map(({ node, to }) => [node, to])).toEqual(
    ["k8s-node1", "k8s-node1", "k8s-node2", "k8s-node2"].map((node) => [node, "deny"]),
  );
});

test("labelChanges leaves pods of other namespaces and owners alone: they hold a node on purpose", () => {
  const foreign = doorPods.map((pod) => ({ ...pod, namespace: "team-a" }));
  const bare = doorPods.map((pod) => ({ ...pod, owner: "ReplicaSet/x" }));
  const leaving = doorPods.map((pod) => ({ ...pod, isDeleting: true }));
  for (const pods of [foreign, bare, leaving])
    expect(labelChanges(pods, new Set(["k8s-master"]), namespaces)).toEqual([]);
});

test("labelPatch names the pod by UID, so that a new pod of the same name keeps its label", () => {
  const change = { namespace: "levee-system", name: "p", uid: "u1", node: "n1", to: "allow" } as const;
  expect(JSON.parse(labelPatch(change))).toEqual({ metadata: { uid: "u1", labels: { "levee.dev/reboot": "allow" } } });
});
