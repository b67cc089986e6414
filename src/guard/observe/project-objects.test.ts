import { expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import { projectApplication, projectAppProject } from "./project-argo.ts";
import { projectEvent, projectRemovalEvent } from "./project-event.ts";
import { projectPolicy } from "./project-policy.ts";
import {
  projectDaemonSet,
  projectDeployment,
  projectEndpointSlice,
  projectNamespace,
  projectNode,
  projectService,
} from "./project-workloads.ts";

test("projectNode keeps readiness, memory and address, and treats an unknown state as not ready", () => {
  const node = (status: object): unknown => projectNode({ metadata: { name: "n" }, status });
  const addresses = [
    { type: "Hostname", address: "n" },
    { type: "InternalIP", address: "10.0.0.1" },
  ];
  const conditions = [{ type: "Ready", status: "True" }];
  expect(node({ conditions, addresses, allocatable: { memory: "65536Ki" } })).toMatchObject({
    isReady: true,
    memoryBytes: 2 ** 26,
    address: "10.0.0.1",
  });
  expect(node({})).toMatchObject({ isReady: false, memoryBytes: 0, address: "" });
  expect(node({ addresses: [{ type: "InternalIP", address: "evil.example/x?" }] })).toMatchObject({ address: "" });
});

test("projectNamespace keeps the stop label and its time", () => {
  const labels = { "levee.dev/ownerless-pods": "deny", "team": "x" };
  const managedFields = [
    { time: "2026-05-10T18:00:00Z", fieldsV1: { "f:metadata": { "f:labels": { "f:team": {} } } } },
    { time: "2026-05-10T19:00:00Z", fieldsV1: { "f:metadata": { "f:labels": { "f:levee.dev/ownerless-pods": {} } } } },
  ];
  expect(projectNamespace({ metadata: { name: "a", labels, managedFields } })).toMatchObject({
    labels: { "levee.dev/ownerless-pods": "deny" },
    labelledMs: Date.parse("2026-05-10T19:00:00Z"),
  });
  expect(projectNamespace({ metadata: { name: "a", labels } })?.labelledMs).toBe(0);
  expect(projectNamespace({ metadata: { name: "a" } })?.labels).toEqual({});
  // Whatever its value.
  const critical = { "levee.dev/critical": "" };
  expect(projectNamespace({ metadata: { name: "a", labels: { ...critical, team: "x" } } })?.labels).toEqual(critical);
  expect(projectNamespace({ metadata: { name: "a", labels: { ...critical, ...labels } } })?.labels).toEqual({
    ...critical,
    "levee.dev/ownerless-pods": "deny",
  });
});

test("projectDaemonSet keeps limits as written, and the Application that owns it", () => {
  const value = {
    metadata: {
      name: "kube-multus-ds",
      namespace: "kube-system",
      uid: "u",
      labels: { "app.kubernetes.io/instance": "multus" },
      annotations: { "argocd.argoproj.io/tracking-id": "infra-multus:apps/DaemonSet:kube-system/kube-multus-ds" },
    },
    spec: { template: { spec: { containers: [{ name: "kube-multus", resources: { limits: { memory: "50Mi" } } }] } } },
    status: { desiredNumberScheduled: 3, numberReady: 1 },
  };
  expect(projectDaemonSet(value)).toEqual({
    namespace: "kube-system",
    name: "kube-multus-ds",
    uid: "u",
    desired: 3,
    ready: 1,
    containers: [{ name: "kube-multus", memoryLimit: "50Mi", memoryRequest: "" }],
    trackedBy: "infra-multus",
    instance: "multus",
    updatesOnDelete: false,
  });
  const copied = {
    ...value,
    metadata: { ...value.metadata, name: "copy" },
    spec: { updateStrategy: { type: "OnDelete" } },
  };
  expect(projectDaemonSet(copied)).toMatchObject({ trackedBy: "", updatesOnDelete: true });
});

test("projectDeployment defaults to one replica", () => {
  expect(projectDeployment({ metadata: { name: "d", namespace: "n" } })).toMatchObject({ desired: 1, available: 0 });
  expect(projectDeployment({ metadata: { name: "d" }, spec: { replicas: 0 } })).toMatchObject({ desired: 0 });
});

test("projectService leaves out Services without a selector, and projectEndpointSlice counts ready endpoints", () => {
  expect(projectService({ metadata: { name: "s" }, spec: { clusterIP: "None" } })).toBeUndefined();
  expect(projectService({ metadata: { name: "s", namespace: "n" }, spec: { selector: { a: "b" } } })).toEqual({
    namespace: "n",
    name: "s",
    appName: "",
  });
  const endpoints = [{ conditions: { ready: true } }, { conditions: { ready: false } }, {}];
  const metadata = { name: "s-1", namespace: "n", labels: { "kubernetes.io/service-name": "s" } };
  expect(projectEndpointSlice({ metadata, endpoints })).toMatchObject({ service: "s", ready: 2 });
});

test("projectEvent keeps node, pod and count, and no message", () => {
  const event = projectEvent(
    {
      metadata: { name: "e", namespace: "n" },
      reason: "FailedCreatePodSandBox",
      message: "# hostile",
      source: { host: "rke2-agent1" },
      involvedObject: { kind: "Pod", uid: "u" },
      count: 17,
      lastTimestamp: "2026-05-10T19:00:00Z",
    },
    new SharedTexts(),
  );
  expect(event).toEqual({
    namespace: "n",
    name: "e",
    reason: "FailedCreatePodSandBox",
    node: "rke2-agent1",
    podUid: "u",
    count: 17,
    lastMs: Date.parse("2026-05-10T19:00:00Z"),
  });
});

test("projectEvent keeps from a message only that the sandbox's name is taken", () => {
  const message = 'failed to reserve sandbox name "web_shop_u_3": name "web_shop_u_3" is reserved for "0a1b"';
  const event = projectEvent({ metadata: { name: "e", namespace: "n" }, message }, new SharedTexts());
  expect(event?.isNameReserved).toBe(true);
  expect(JSON.stringify(event)).not.toContain("web_shop");
});

test("projectRemovalEvent keeps events of sandboxes that stay, with the ID, and no others", () => {
  const id = "d1".repeat(32);
  const event = (reason: string, count: number, message: string): unknown =>
    projectRemovalEvent(
      {
        metadata: { name: "e", namespace: "n" },
        ...{ reason, count, message, firstTimestamp: "2026-05-10T19:00:00Z" },
        involvedObject: { kind: "Pod", uid: "u" },
      },
      new SharedTexts(),
    );
  // As kubelet 1.34 writes it.
  const failed = `error killing pod: failed to "KillPodSandbox" for "3728cf73" with KillPodSandboxError: "rpc error: code = Unknown desc = failed to destroy network for sandbox \\"${id}\\": plugin type=\\"sick\\" failed (delete): sick"`;
  expect(event("FailedKillPod", 7, failed)).toMatchObject({
    ...{ podUid: "u", count: 7, sandbox: id, firstMs: Date.parse("2026-05-10T19:00:00Z") },
  });
  expect(event("FailedKillPod", 7, 'error killing pod: failed to "KillContainer" for "main"')).toBeUndefined();
  const changed = "Pod sandbox changed, it will be killed and re-created.";
  expect(event("SandboxChanged", 3, changed)).toMatchObject({ reason: "SandboxChanged", count: 3 });
  // Once, as after a reboot.
  expect(event("SandboxChanged", 1, changed)).toBeUndefined();
  expect(projectRemovalEvent({}, new SharedTexts())).toBeUndefined();
});

test("projectApplication keeps no user, token or password of a repository's address", () => {
  const repositoryOf = (repoURL: string): string | undefined =>
    projectApplication({ metadata: { name: "a", namespace: "argocd" }, spec: { source: { repoURL } } })?.source
      .repository;
  for (const user of ["token", "me:secret", "me:p@ss"])
    expect(repositoryOf(`HTTPS://${user}@git.example/x.git`)).toBe("HTTPS://git.example/x.git");
  expect(repositoryOf("https://git.example/x@1")).toBe("https://git.example/x@1");
  expect(repositoryOf("git@git.example:x")).toBe("git@git.example:x");
});

test("projectApplication keeps whether it reverts by itself, and where its manifests are", () => {
  const source = { repoURL: "https://git.example/infra.git", path: "apps/multus", targetRevision: "main" };
  const application = (spec: object, status: object = {}, annotations: object = {}): object => ({
    metadata: { name: "a", namespace: "argocd", annotations },
    spec,
    status,
  });
  expect(projectApplication(application({ source, syncPolicy: { automated: {} } }))).toMatchObject({
    project: "default",
    sync: "Unknown",
    isAutomated: true,
    source: { isPlain: true, path: "apps/multus" },
  });
  const off = application({ source: { ...source, helm: {} }, syncPolicy: { automated: { enabled: false } } });
  expect(projectApplication(off)).toMatchObject({ isAutomated: false, source: { isPlain: false } });
  const conditions = [{ type: "ComparisonError", lastTransitionTime: "2026-05-10T19:00:00Z" }];
  const skipped = application(
    { sources: [source] },
    { sync: { status: "Synced" }, conditions },
    {
      "argocd.argoproj.io/skip-reconcile": "true",
    },
  );
  expect(projectApplication(skipped)).toMatchObject({
    sync: "Synced",
    isAutomated: false,
    skipsReconcile: true,
    comparisonErrorMs: Date.parse("2026-05-10T19:00:00Z"),
    source: { isPlain: false },
  });
});

test("projectApplication keeps only this cluster's CNI daemons of its resources", () => {
  const daemons = [{ namespace: "kube-system", daemonSet: "kube-multus-ds", container: "kube-multus" }];
  const listed = { group: "apps", kind: "DaemonSet", namespace: "kube-system", name: "kube-multus-ds" };
  const owns = (resource: object, destination: object = { server: "https://kubernetes.default.svc" }): unknown =>
    projectApplication(
      { metadata: { name: "a" }, spec: { destination }, status: { resources: [{ kind: "Pod" }, resource] } },
      daemons,
    )?.owns;
  expect(owns(listed)).toEqual(["kube-system/kube-multus-ds"]);
  expect(owns(listed, { name: "in-cluster" })).toEqual(["kube-system/kube-multus-ds"]);
  expect(owns(listed, { server: "https://edge.example:6443" })).toEqual([]);
  expect(owns(listed, { name: "edge-7" })).toEqual([]);
  for (const change of [{ group: "extensions" }, { kind: "Deployment" }, { namespace: "x" }, { name: "other" }])
    expect(owns({ ...listed, ...change })).toEqual([]);
});

test("projectAppProject keeps windows, with empty texts for missing fields", () => {
  const syncWindows = [
    { kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["a", 7] },
    { andOperator: true },
  ];
  const spec = { syncWindows, sourceNamespaces: ["team-*"] };
  expect(projectAppProject({ metadata: { name: "default", namespace: "argocd" }, spec })).toMatchObject({
    syncWindows: [
      { kind: "deny", schedule: "* * * * *", duration: "1h", timeZone: "", applications: ["a"], needsAll: false },
      { kind: "", schedule: "", duration: "", timeZone: "", applications: [], needsAll: true },
    ],
    sourceNamespaces: ["team-*"],
  });
});

test("projectPolicy keeps our policies, with the kind that a list leaves out", () => {
  const project = projectPolicy("ValidatingAdmissionPolicyBinding");
  expect(project({ metadata: { name: "levee-x" }, spec: { policyName: "y" } })?.policy).toMatchObject({
    kind: "ValidatingAdmissionPolicyBinding",
    spec: { policyName: "y" },
  });
  expect(project({ metadata: { name: "other" }, spec: {} })).toBeUndefined();
});

test("every projection refuses an object without a name", () => {
  const all = [
    projectNode,
    projectNamespace,
    projectDaemonSet,
    projectDeployment,
    projectService,
    projectEndpointSlice,
    projectApplication,
    projectAppProject,
    projectPolicy("ValidatingAdmissionPolicy"),
  ];
  for (const project of all) expect([project(undefined), project({ metadata: 7 })]).toEqual([undefined, undefined]);
});
