import { expect, test } from "bun:test";
import type { Step } from "../../decision/step.ts";
import type { StuckWorkload } from "../../detect/stuck-workloads.ts";
import type { World } from "../../facts/world.ts";
import { multus } from "../../outage.fixture.ts";
import { stuckPod, world } from "../../world.fixture.ts";
import { restartSteps } from "./restart-steps.ts";
import { placeSteps } from "../step-draft.ts";

function stuck(kind: string, namespace: string, name: string): StuckWorkload {
  return { kind, namespace, name, pods: [stuckPod(`${name}-1`, { namespace, owner: `${kind}/${name}` })] };
}

function planned(workloads: readonly StuckWorkload[], facts: Partial<World>): { steps: readonly Step[]; note: string } {
  const { steps, notes } = restartSteps(workloads, world(facts));
  return { steps: placeSteps(steps, "recover-fc-1", "levee-system"), note: notes.join("\n") };
}

function deployment(namespace: string, name: string, more: object = {}): World["deployments"][number] {
  return { namespace, name, desired: 1, available: 0, uid: `uid-${name}`, ...more };
}

const statefulSet = { namespace: "shop", name: "queue", uid: "uid-queue", updatesOnDelete: false };

test("restartSteps restarts what others depend on first, and says why each has its place", () => {
  const names = [
    ["argocd", "argocd-repo-server"],
    ["traefik", "traefik"],
    ["kube-system", "coredns"],
    ["longhorn-system", "csi-provisioner"],
    ["longhorn-system", "csi-attacher"],
  ] as const;
  const calico = { ...multus, namespace: "kube-system", name: "calico-node", uid: "uid-calico-node" };
  const { steps, note } = planned(
    [
      ...names.map(([namespace, name]) => stuck("Deployment", namespace, name)),
      stuck("StatefulSet", "shop", "queue"),
      stuck("DaemonSet", "kube-system", "calico-node"),
    ],
    {
      deployments: names.map(([namespace, name]) => deployment(namespace, name)),
      daemonSets: [calico],
      statefulSets: [statefulSet],
    },
  );
  const order = steps.map((step) => (step.action === "RestartWorkload" ? step.restartWorkload : undefined));
  expect(order.map((one) => `${one?.kind} ${one?.name}: ${one?.place}`)).toEqual([
    "DaemonSet calico-node: the network: every pod that starts needs it",
    "Deployment csi-attacher: storage: pods with volumes wait for it",
    "Deployment csi-provisioner: storage: pods with volumes wait for it",
    "Deployment coredns: DNS: nearly every program asks it first",
    "Deployment traefik: the way in: people and other clusters come through it",
    "StatefulSet queue: nothing is known to depend on it",
    "Deployment argocd-repo-server: nothing is known to depend on it",
  ]);
  expect(note).toBe("");
  expect(steps[1]?.kubectl).toEqual([
    "kubectl -n longhorn-system rollout restart deployment/csi-attacher",
    "kubectl -n longhorn-system rollout status deployment/csi-attacher",
    "kubectl -n longhorn-system rollout undo deployment/csi-attacher",
  ]);
});

for (const [what, workload, facts, why] of [
  [
    "a workload with an attached volume",
    stuck("Deployment", "shop", "web"),
    { deployments: [deployment("shop", "web", { attachedVolume: "data" })] },
    'its volume "data" is attached to its nodes',
  ],
  [
    "a StatefulSet with claims",
    stuck("StatefulSet", "shop", "queue"),
    { statefulSets: [{ ...statefulSet, attachedVolume: "data" }] },
    'its volume "data" is attached to its nodes',
  ],
  [
    "Longhorn's instance manager of a DaemonSet",
    stuck("DaemonSet", "longhorn-system", "instance-manager-e-1"),
    { daemonSets: [{ ...multus, namespace: "longhorn-system", name: "instance-manager-e-1" }] },
    "volumes run through it",
  ],
  [
    "an instance manager that Longhorn owns itself",
    stuck("InstanceManager", "longhorn-system", "instance-manager-1"),
    {},
    "its kind cannot be restarted",
  ],
  ["a Job", stuck("Job", "shop", "nightly"), {}, "its kind cannot be restarted"],
  [
    "a paused Deployment",
    stuck("Deployment", "shop", "web"),
    { deployments: [deployment("shop", "web", { isPaused: true })] },
    "it is paused",
  ],
  [
    "a DaemonSet with OnDelete",
    stuck("DaemonSet", "kube-system", "kube-multus-ds"),
    { daemonSets: [{ ...multus, updatesOnDelete: true }] },
    "its update strategy is OnDelete",
  ],
  ["a Deployment that the watch does not have", stuck("Deployment", "shop", "web"), {}, "it is not visible"],
] satisfies readonly (readonly [string, StuckWorkload, Partial<World>, string])[]) {
  test(`restartSteps lists ${what} and does not restart it`, () => {
    const { steps, note } = planned([workload], facts);
    expect(steps).toEqual([]);
    expect(note).toBe(
      `Listed and not restarted by the guard: ${workload.kind} ${workload.namespace}/${workload.name} (${why})`,
    );
  });
}

test("restartSteps plans twelve restarts at most and names the rest", () => {
  const names = Array.from({ length: 20 }, (_, index) => `web-${String(index).padStart(2, "0")}`);
  const { steps, note } = planned(
    names.map((name) => stuck("Deployment", "shop", name)),
    { deployments: names.map((name) => deployment("shop", name)) },
  );
  expect(steps.length).toBe(12);
  expect(note).toContain("Deployment shop/web-12 (12 others come first)");
  expect(note).toEndWith("and 2 more");
});
