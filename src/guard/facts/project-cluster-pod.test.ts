import { expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import type { ClusterPod } from "./cluster-pod.ts";
import { projectClusterPod } from "./project-cluster-pod.ts";

/** An ownerless pod as the API server gives it, with the test's changes. */
function pod(metadata: object = {}, spec: object = {}, status: object = {}): ClusterPod {
  const record = projectClusterPod(
    {
      metadata: {
        name: "rd-browser-only-x2b7q",
        namespace: "fc-desktop",
        uid: "u-1",
        generateName: "rd-browser-only-",
        creationTimestamp: "2026-05-10T17:00:00Z",
        labels: { app: "rd" },
        ...metadata,
      },
      spec: { nodeName: "rke2-agent1", containers: [{ name: "browser", image: "rd:1" }], ...spec },
      status: { phase: "Pending", ...status },
    },
    new SharedTexts(),
  );
  if (record === undefined) throw new Error("no record");
  return record;
}

test("projectClusterPod keeps the few fields of a bound, Pending, ownerless pod", () => {
  const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-05-10T17:00:03Z" }];
  const managedFields = [
    { manager: "kubelet", subresource: "status", time: "2026-05-10T16:59:00Z" },
    { manager: "late", time: "2026-05-10T18:00:00Z" },
    { manager: "RemoteDesktop\u001b[31m", time: "2026-05-10T17:00:00Z" },
  ];
  const record = pod({ managedFields }, {}, { conditions });
  expect(record).toMatchObject({
    uid: "u-1",
    node: "rke2-agent1",
    createdMs: Date.parse("2026-05-10T17:00:00Z"),
    boundMs: Date.parse("2026-05-10T17:00:03Z"),
    owner: "",
    clientSays: "RemoteDesktop",
    everRan: false,
    isMirror: false,
    isExempt: false,
  });
  expect(record.shape).toStartWith("rd-browser-only- image rd:1 spec ");
});

test("projectClusterPod takes the creation time for a pod created with its node, and none for an unbound pod", () => {
  expect(pod().boundMs).toBe(Date.parse("2026-05-10T17:00:00Z"));
  expect(pod({}, { nodeName: undefined }).boundMs).toBe(0);
});

test("projectClusterPod knows a door by its label, and one of Levee's own without it", () => {
  const ownerReferences = [{ kind: "DaemonSet", name: "levee", controller: true }];
  const levee = { serviceAccountName: "levee" };
  expect(pod({ labels: { "levee.dev/reboot": "allow" }, ownerReferences }).door).toBe("allow");
  expect(pod({ labels: {}, ownerReferences }, levee).door).toBe("");
  expect(pod({ labels: { "levee.dev/reboot": "" }, ownerReferences }, levee).door).toBe("");
  expect(pod({ ownerReferences }).door).toBeUndefined();
});

test("projectClusterPod sees an owner in any reference, the controller first", () => {
  const ownerReferences = [
    { kind: "Thing", name: "a" },
    { kind: "Job", name: "b", controller: true },
  ];
  expect(pod({ ownerReferences })).toMatchObject({ owner: "Job/b", shape: "", clientSays: "" });
  expect(pod({ ownerReferences: ownerReferences.slice(0, 1) }).owner).toBe("Thing/a");
  expect(pod({ ownerReferences: [] }).owner).toBe("");
});

for (const [what, status] of [
  ["an address", { podIP: "10.0.0.1" }],
  ["a sandbox with its network", { conditions: [{ type: "PodReadyToStartContainers", status: "True" }] }],
  ["a container's ID", { containerStatuses: [{ containerID: "containerd://1", state: {} }] }],
  ["a running container", { containerStatuses: [{ state: { running: {} } }] }],
  ["an init container that ended", { initContainerStatuses: [{ state: { terminated: { reason: "Completed" } } }] }],
  ["a restart", { containerStatuses: [{ restartCount: 1, state: { waiting: {} } }] }],
  ["a former state", { containerStatuses: [{ lastState: { terminated: {} } }] }],
  ["a debug container", { ephemeralContainerStatuses: [{ started: true }] }],
] as const) {
  test(`projectClusterPod takes ${what} as a sign that the pod ran`, () => {
    expect(pod({}, {}, status).everRan).toBe(true);
  });
}

test("projectClusterPod does not count a waiting container as one that ran", () => {
  const waiting = {
    restartCount: 0,
    started: false,
    state: { waiting: { reason: "ContainerCreating" } },
    lastState: {},
  };
  const conditions = [
    { type: "PodReadyToStartContainers", status: "False" },
    { type: "Initialized", status: "True" },
  ];
  const record = pod({}, {}, { conditions, containerStatuses: [waiting] });
  expect(record).toMatchObject({ everRan: false, restarts: 0, oomKilledMs: 0 });
});

test("projectClusterPod gives the time of the last OOM kill", () => {
  const terminated = { reason: "OOMKilled", finishedAt: "2026-05-10T18:00:00Z" };
  const containerStatuses = [{ restartCount: 276, state: { waiting: {} }, lastState: { terminated } }];
  expect(pod({}, {}, { containerStatuses })).toMatchObject({
    restarts: 276,
    oomKilledMs: Date.parse("2026-05-10T18:00:00Z"),
  });
});

test("projectClusterPod recognises mirror pods, Helm hooks and pods with a reason for having no owner", () => {
  expect(pod({ annotations: { "kubernetes.io/config.mirror": "x" } }).isMirror).toBe(true);
  expect(pod({ annotations: { "helm.sh/hook": "pre-install" } }).isExempt).toBe(true);
  expect(pod({ annotations: { "levee.dev/ownerless-reason": "CI" } }).isExempt).toBe(true);
  expect(pod({ annotations: { "levee.dev/ownerless-reason": "" } }).isExempt).toBe(false);
});

test("projectClusterPod gives pods of one template one shape, whatever differs between them", () => {
  const template = (value: string): object => ({
    nodeName: value,
    containers: [
      {
        name: "browser",
        image: "rd:1",
        command: [`/bin/${value}`, value],
        args: [value],
        env: [{ name: "SESSION", value }],
        volumeMounts: [{ name: `kube-api-access-${value}`, mountPath: "/var/run/secrets" }],
      },
    ],
    volumes: [{ name: `kube-api-access-${value}`, projected: { sources: [] } }],
  });
  expect(pod({}, template("a")).shape).toBe(pod({}, template("b")).shape);
});

for (const [what, metadata, spec] of [
  ["another image", {}, { containers: [{ name: "browser", image: "rd:2" }] }],
  ["another container", {}, { containers: [{ name: "shell", image: "rd:1" }] }],
  ["another size", {}, { containers: [{ name: "browser", image: "rd:1", resources: { limits: { memory: "1Gi" } } }] }],
  ["another mount", {}, { containers: [{ name: "browser", image: "rd:1", volumeMounts: [{ mountPath: "/x" }] }] }],
  ["another variable", {}, { containers: [{ name: "browser", image: "rd:1", env: [{ name: "X" }] }] }],
  ["another account", {}, { serviceAccountName: "x" }],
  ["another generateName", { generateName: "other-" }, {}],
  ["no generateName", { generateName: undefined }, {}],
] as const) {
  test(`projectClusterPod gives a pod with ${what} another shape`, () => {
    expect(pod(metadata, spec).shape).not.toBe(pod().shape);
  });
}

test("projectClusterPod uses label keys without a generateName, in any order and whatever their values", () => {
  const shape = (labels: object): string => pod({ generateName: undefined, labels }).shape;
  expect(shape({ app: "rd", session: "1" })).toStartWith("labels app, session image rd:1 spec ");
  expect(shape({})).toStartWith("no labels image rd:1 spec ");
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`label-${index}`, "x"]));
  expect(shape(many)).not.toBe(shape({ ...many, "label-99": "x" }));
  expect(shape(many).length).toBeLessThan(200);
  expect(shape({ a: "1", b: "2" })).toBe(shape({ b: "2", a: "1" }));
  expect(shape({ app: "rd", session: "1" })).toBe(shape({ app: "rd", session: "2" }));
  expect(shape({ app: "rd" })).not.toBe(shape({ run: "rd" }));
});

test("projectClusterPod tells bare pods apart by their program, but not by its words", () => {
  const shape = (metadata: object, ...command: readonly string[]): string =>
    pod(
      { generateName: undefined, labels: {}, ...metadata },
      { containers: [{ name: "main", image: "busybox", command }] },
    ).shape;
  expect(shape({}, "sleep", "1")).toBe(shape({}, "sleep", "2"));
  expect(shape({}, "sleep", "1")).not.toBe(shape({}, "nslookup", "example.com"));
  expect(shape({}, "sleep", "1")).not.toBe(shape({}));
  const labels = { app: "rd" };
  expect(shape({ labels }, "/bin/session-1")).toBe(shape({ labels }, "/bin/session-2"));
});

for (const value of [undefined, 7, {}, { metadata: { name: "x" } }, { metadata: { namespace: "x" } }]) {
  test(`projectClusterPod refuses ${JSON.stringify(value)}`, () => {
    expect(projectClusterPod(value, new SharedTexts())).toBeUndefined();
  });
}

test("projectClusterPod lives with fields of the wrong kind", () => {
  const record = pod(
    { ownerReferences: 7, managedFields: "x", creationTimestamp: {}, annotations: [] },
    { containers: [null, 1] },
    { conditions: {}, containerStatuses: [null, { restartCount: "3", state: 1 }] },
  );
  expect(record).toMatchObject({ owner: "", createdMs: 0, restarts: 0, everRan: false });
});
