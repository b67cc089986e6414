/** What the guard's account cannot do on a real API server, even with the rights of a cluster's administrator. */
import { expect, test } from "bun:test";
import { fullDecision } from "../guard/full-decision.ts";
import { guardUser, makePod, podBody, startGuardServer, untilAnswer, type ShortPod } from "./guard/guard-server.ts";
import { mergePatch, type Answer, type Ask, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";

const { group, beforeAll, afterAll } = needsServer("guard-confined");

const guard = { user: guardUser };
const pods = "/api/v1/namespaces/fc/pods";
const daemonSets = "/apis/apps/v1/namespaces/fc/daemonsets";
const mirror = { "kubernetes.io/config.mirror": "1" };
const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "00000000-0000-4000-8000-000000000000" };

let server: PolicyServer;

function asGuard(ask: Omit<Ask, "as">): Promise<Answer> {
  return server.ask({ ...ask, as: guard });
}

function remove(name: string, options: object): Promise<Answer> {
  return asGuard({
    method: "DELETE",
    path: `${pods}/${name}`,
    body: { kind: "DeleteOptions", apiVersion: "v1", ...options },
  });
}

async function isThere(name: string): Promise<boolean> {
  return (await server.ask({ method: "GET", path: `${pods}/${name}` })).code === 200;
}

/** The policy's name and the words of the rule. */
function expectRefused({ code, text }: Answer, policy: string, words: string): void {
  expect([code, text]).toEqual([403, expect.stringContaining(policy) as string]);
  expect(text).toContain(words);
}

beforeAll(async () => {
  server = await startGuardServer();
  server.must(["create", "namespace", "fc"]);
  server.must(["label", "namespace", "fc", "team=a"]);
  server.must(["create", "namespace", "ingress"]);
  server.must(["label", "namespace", "ingress", "levee.dev/critical=false"]);
  server.must(["create", "clusterrolebinding", "too-much", "--clusterrole=cluster-admin", `--user=${guardUser}`]);
  await makePod(server, { name: "probe" });
  const path = `${pods}/probe`;
  const body = { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] };
  const isRefused = ({ code }: Answer): boolean => code === 403;
  await untilAnswer(server, { method: "DELETE", path, body, as: guard }, isRefused);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  const secrets = "/api/v1/namespaces/fc/secrets?dryRun=All";
  await untilAnswer(server, { method: "POST", path: secrets, body: secret, as: guard }, isRefused);
}, 120_000);

afterAll(() => server.stop());

group("deletes pods", () => {
  const policy = "levee-guard-deletes-only-ownerless-pods";

  test("by UID, gracefully and by force, when they are ownerless and never ran", async () => {
    for (const gracePeriodSeconds of [30, 0]) {
      const uid = await makePod(server, { name: `never-${gracePeriodSeconds}`, node: "n1" });
      const end = await remove(`never-${gracePeriodSeconds}`, { gracePeriodSeconds, preconditions: { uid } });
      expect(end).toMatchObject({ code: 200 });
    }
    expect(await isThere("never-0")).toBe(false);
    // Without a kubelet it stays, on its way out.
    const { text } = await server.ask({ method: "GET", path: `${pods}/never-30` });
    expect(text).toContain("deletionTimestamp");
  });

  test("not one of the same name that came instead", async () => {
    const uid = await makePod(server, { name: "same" });
    expect(await server.ask({ method: "DELETE", path: `${pods}/same` })).toMatchObject({ code: 200 });
    await makePod(server, { name: "same" });
    expect((await remove("same", { preconditions: { uid } })).code).toBeOneOf([403, 409]);
    expectRefused(await remove("same", {}), policy, "by UID only");
    expect(await isThere("same")).toBe(true);
  });

  const container = { name: "main", image: "i", imageID: "", ready: false, restartCount: 0, state: {} };
  const waiting = { waiting: { reason: "ContainerCreating" } };
  const ended = { terminated: { exitCode: 1 } };
  const statuses = (change: object, list = "containerStatuses"): object => ({
    [list]: [{ ...container, ...change }],
  });
  test.each<[string, Partial<ShortPod>, object, string]>([
    ["an owner", { owners: [owner] }, {}, "ownerless pods only"],
    ["an owner and none of its controllers", { owners: [{ ...owner, controller: false }] }, {}, "ownerless pods only"],
    ["a file on a node", { node: "n1", annotations: mirror }, {}, "no mirror pods"],
    ["an address", {}, { podIP: "10.0.0.1" }, "never ran"],
    ["a phase beyond Pending", {}, { phase: "Running" }, "never ran"],
    ["a container's ID", {}, statuses({ containerID: "containerd://1" }), "never ran"],
    ["restarts", {}, statuses({ restartCount: 1, state: waiting }), "never ran"],
    ["a running container", {}, statuses({ state: { running: {} } }), "never ran"],
    ["an ended container", {}, statuses({ state: ended }), "never ran"],
    ["a container that ran before", {}, statuses({ state: waiting, lastState: ended }), "never ran"],
    ["an init container that ran", {}, statuses({ state: ended }, "initContainerStatuses"), "never ran"],
    ["a debugger that ran", {}, statuses({ state: ended }, "ephemeralContainerStatuses"), "never ran"],
  ])("never with %s", async (what, pod, status, words) => {
    const name = what.toLowerCase().replaceAll(/[^a-z]+/gu, "-");
    const uid = await makePod(server, { name, ...pod }, status);
    for (const gracePeriodSeconds of [0, 30]) {
      const end = await remove(name, { gracePeriodSeconds, preconditions: { uid } });
      expectRefused(end, policy, words);
    }
    expect(await isThere(name)).toBe(true);
  });

  test("but does nothing else to them: not by eviction, not many at once, not by status or shell", async () => {
    const uid = await makePod(server, { name: "whole", node: "n1" });
    const eviction = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "whole", namespace: "fc" },
      deleteOptions: { preconditions: { uid } },
    };
    const ways: readonly Omit<Ask, "as">[] = [
      { method: "POST", path: `${pods}/whole/eviction`, body: eviction },
      { method: "DELETE", path: pods, body: { kind: "DeleteOptions", apiVersion: "v1" } },
      { method: "PATCH", path: `${pods}/whole/status`, body: { status: { phase: "Failed" } }, type: mergePatch },
      {
        method: "PATCH",
        path: `${pods}/whole`,
        body: { metadata: { finalizers: null, labels: { a: "b" } } },
        type: mergePatch,
      },
      { method: "POST", path: pods, body: podBody({ name: "new" }) },
      { method: "POST", path: `${pods}/whole/exec?command=id&stdout=true` },
    ];
    for (const way of ways) expect([way.path, (await asGuard(way)).code]).toEqual([way.path, 403]);
    expect(await isThere("whole")).toBe(true);
    expect(await isThere("probe")).toBe(true);
  });

  test("a dry run in the query is ignored beside a body and deletes; in the body it spares the pod", async () => {
    const uid = await makePod(server, { name: "spared" });
    const dryRun = ["All"];
    expect(await remove("spared", { dryRun, preconditions: { uid } })).toMatchObject({ code: 200 });
    expect(await isThere("spared")).toBe(true);
    const inQuery = await remove("spared?dryRun=All", { preconditions: { uid } });
    expect(inQuery).toMatchObject({ code: 200 });
    expect(await isThere("spared")).toBe(false);
  });
});

const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "cni", namespace: "fc", labels: { app: "cni" }, annotations: { keep: "1" } },
  spec: {
    selector: { matchLabels: { app: "cni" } },
    template: {
      metadata: { labels: { app: "cni" }, annotations: { keep: "1" } },
      spec: {
        initContainers: [{ name: "install", image: "i" }],
        containers: [
          {
            name: "main",
            image: "i",
            resources: { limits: { memory: "50Mi", cpu: "1" }, requests: { memory: "50Mi", cpu: "100m" } },
          },
          { name: "side", image: "i" },
        ],
      },
    },
  },
};

const workloadPolicy = "levee-guard-changes-memory-only";
const main = "/spec/template/spec/containers/0";
const restart = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt";

function change(operations: readonly object[], path = `${daemonSets}/cni?dryRun=All`): Promise<Answer> {
  return asGuard({ method: "PATCH", path, body: operations, type: "application/json-patch+json" });
}

function make(path: string, kind: string): Promise<Answer> {
  return server.ask({ method: "POST", path, body: { ...daemonSet, kind } });
}

group("changes workloads", () => {
  const policy = workloadPolicy;
  const spec = "/spec/template/spec";

  beforeAll(async () => {
    expect(await server.ask({ method: "POST", path: daemonSets, body: daemonSet })).toMatchObject({ code: 201 });
  });

  test("of one kind, DaemonSets: their memory, with a test of what it was", async () => {
    const operations = [
      { op: "test", path: `${main}/name`, value: "main" },
      { op: "test", path: `${main}/resources/limits/memory`, value: "50Mi" },
      { op: "replace", path: `${main}/resources/limits/memory`, value: "1Gi" },
    ];
    const asks = { op: "replace", path: `${main}/resources/requests/memory`, value: "512Mi" };
    expect(await change([...operations, asks])).toMatchObject({ code: 200 });
    expect(await change(operations)).toMatchObject({ code: 200 });
    expect(await change(operations, `${daemonSets}/cni`)).toMatchObject({ code: 200 });
    // The test of the old value fails now; the server says no more than that.
    expect(await change(operations)).toMatchObject({ code: 422 });
  });

  test.each([
    ["an image", "replace", `${main}/image`, "evil"],
    ["an init container's image", "replace", `${spec}/initContainers/0/image`, "evil"],
    ["an init container's memory", "add", `${spec}/initContainers/0/resources`, { limits: { memory: "1Gi" } }],
    ["a command", "add", `${main}/command`, ["sh"]],
    ["the environment", "add", `${main}/env`, [{ name: "A", value: "b" }]],
    ["a privilege", "add", `${main}/securityContext`, { privileged: true }],
    ["a working directory", "add", `${main}/workingDir`, "/"],
    ["a pull policy", "add", `${main}/imagePullPolicy`, "Never"],
    ["a terminal", "add", `${main}/stdin`, true],
    ["the CPU", "replace", `${main}/resources/limits/cpu`, "2"],
    ["a CPU that goes", "remove", `${main}/resources/requests/cpu`, undefined],
    ["another resource", "add", `${main}/resources/limits/example.com~1gpu`, "1"],
    ["less memory", "replace", `${main}/resources/limits/memory`, "1023Mi"],
    ["more memory to ask for without a limit", "replace", `${main}/resources/requests/memory`, "512Mi"],
    ["memory to ask for where there was none", "add", `${spec}/containers/1/resources/requests`, { memory: "64Mi" }],
    ["less memory to ask for", "replace", `${main}/resources/requests/memory`, "1M"],
    ["no memory to ask for", "remove", `${main}/resources/requests/memory`, undefined],
    ["no limit of memory", "remove", `${main}/resources/limits/memory`, undefined],
    ["a limit where there was none", "add", `${spec}/containers/1/resources/limits`, { memory: "1Gi" }],
    ["one container more", "add", `${spec}/containers/-`, { name: "evil", image: "evil" }],
    ["one container less", "remove", `${spec}/containers/1`, undefined],
    ["a container's name", "replace", `${main}/name`, "other"],
    ["the account", "add", `${spec}/serviceAccountName`, "admin"],
    ["the host's network", "add", `${spec}/hostNetwork`, true],
    ["a volume", "add", `${spec}/volumes`, [{ name: "v", hostPath: { path: "/" } }]],
    ["a node selector", "add", `${spec}/nodeSelector`, { a: "b" }],
    ["an affinity", "add", `${spec}/affinity`, {}],
    ["a priority", "add", `${spec}/priorityClassName`, "system-node-critical"],
    ["the scheduler", "replace", `${spec}/schedulerName`, "other"],
    ["the template's labels", "add", "/spec/template/metadata/labels/a", "b"],
    ["a restart without a time", "add", restart, "now"],
    ["a restart with more than a time", "add", restart, "2026-05-11T10:30:00Z; rm -rf /"],
    ["a restart in another zone", "add", restart, "2026-05-11T10:30:00+02:00"],
    ["another annotation of the template", "add", "/spec/template/metadata/annotations/a", "b"],
    ["a changed annotation of the template", "replace", "/spec/template/metadata/annotations/keep", "2"],
    ["the template's annotations that go", "remove", "/spec/template/metadata/annotations", undefined],
    ["the way of updates", "replace", "/spec/updateStrategy/type", "OnDelete"],
    ["the time to be ready", "add", "/spec/minReadySeconds", 9],
    ["a label", "add", "/metadata/labels/a", "b"],
    ["an annotation", "replace", "/metadata/annotations/keep", "2"],
    ["a finalizer", "add", "/metadata/finalizers", ["example.com/stay"]],
    ["an owner", "add", "/metadata/ownerReferences", [owner]],
  ])("never %s", async (_what, op, path, value) => {
    expectRefused(await change([{ op, path, value }]), policy, "the guard changes n");
  });

  test("but makes none, deletes none, scales none and writes no status", async () => {
    const ways: readonly Omit<Ask, "as">[] = [
      { method: "POST", path: daemonSets, body: { ...daemonSet, metadata: { name: "new" } } },
      { method: "DELETE", path: `${daemonSets}/cni` },
      { method: "DELETE", path: daemonSets },
      { method: "PATCH", path: `${daemonSets}/cni/status`, body: { status: { numberReady: 9 } }, type: mergePatch },
    ];
    for (const way of ways) expectRefused(await asGuard(way), "levee-guard-", "the guard");
    const deployments = "/apis/apps/v1/namespaces/fc/deployments";
    expect(await make(deployments, "Deployment")).toMatchObject({ code: 201 });
    const scale = { method: "PATCH", path: `${deployments}/cni/scale`, body: { spec: { replicas: 0 } } } as const;
    expectRefused(await asGuard({ ...scale, type: mergePatch }), "levee-guard-", "the guard");
  });
});

group("restarts workloads", () => {
  test.each([
    ["daemonsets", "DaemonSet"],
    ["deployments", "Deployment"],
    ["statefulsets", "StatefulSet"],
  ])("%s by one annotation with a time, and by nothing else", async (resource, kind) => {
    const workloads = `/apis/apps/v1/namespaces/fc/${resource}`;
    expect([201, 409]).toContain((await make(workloads, kind)).code);
    const time = { op: "add", path: restart, value: "2026-05-11T10:30:00Z" };
    const path = `${workloads}/cni`;
    expect(await change([time], path)).toMatchObject({ code: 200 });
    expect(await change([{ ...time, value: "2026-05-11T10:31:00.5Z" }], `${path}?dryRun=All`)).toMatchObject({
      code: 200,
    });
    const memory = { op: "replace", path: `${main}/resources/limits/memory`, value: "8Gi" };
    const later = { ...time, value: "2026-05-11T10:32:00Z" };
    for (const operations of [
      [{ op: "remove", path: restart }],
      [{ ...time, value: "now" }],
      [later, memory],
      [later, { op: "replace", path: `${main}/image`, value: "evil" }],
      [later, { op: "add", path: "/spec/template/metadata/annotations/a", value: "b" }],
      [later, { op: "add", path: "/spec/template/metadata/labels/a", value: "b" }],
      [later, { op: "add", path: "/metadata/annotations/a", value: "b" }],
      [later, { op: "replace", path: "/spec/template/metadata/annotations/keep", value: "2" }],
      ...(kind === "DaemonSet" ? [] : [[{ op: "replace", path: "/spec/replicas", value: 9 }], [memory]]),
      ...(kind === "DaemonSet" ? [] : [[{ op: "replace", path: "/spec/replicas", value: 0 }]]),
    ])
      expectRefused(await change(operations, `${path}?dryRun=All`), workloadPolicy, "the guard changes n");
  });
});

group("makes workloads smaller", () => {
  const size = { op: "replace", path: "/spec/replicas", value: 3 };
  const more = { op: "add", path: "/metadata/labels/a", value: "b" };

  test.each([
    ["deployments", "Deployment"],
    ["replicasets", "ReplicaSet"],
  ])("%s, and nothing else of them in the same request", async (resource, kind) => {
    const path = `/apis/apps/v1/namespaces/fc/${resource}`;
    const metadata = { ...daemonSet.metadata, name: "many" };
    const body = { ...daemonSet, kind, metadata, spec: { ...daemonSet.spec, replicas: 5 } };
    expect(await server.ask({ method: "POST", path, body })).toMatchObject({ code: 201 });
    const dryRun = `${path}/many?dryRun=All`;
    expect(await change([size], dryRun)).toMatchObject({ code: 200 });
    expect(await change([{ ...size, value: 1 }], dryRun)).toMatchObject({ code: 200 });
    for (const operations of [
      [{ ...size, value: 6 }],
      [{ ...size, value: 0 }],
      [size, more],
      [size, { op: "replace", path: `${main}/image`, value: "evil" }],
      [size, { op: "add", path: restart, value: "2026-05-11T10:30:00Z" }],
      [size, { op: "add", path: "/spec/minReadySeconds", value: 9 }],
      [size, { op: "add", path: "/metadata/ownerReferences", value: [owner] }],
      ...(kind === "ReplicaSet" ? [[{ op: "add", path: restart, value: "2026-05-11T10:30:00Z" }]] : []),
    ])
      expectRefused(await change(operations, dryRun), workloadPolicy, "the guard changes n");
    const scale = { method: "PATCH", path: `${path}/many/scale`, body: { spec: { replicas: 0 } } } as const;
    expectRefused(await asGuard({ ...scale, type: mergePatch }), "levee-guard-", "the guard");
  });

  test("never those of the system", async () => {
    const path = "/apis/apps/v1/namespaces/kube-system/deployments";
    const metadata = { name: "many", labels: { app: "cni" } };
    const body = { ...daemonSet, kind: "Deployment", metadata, spec: { ...daemonSet.spec, replicas: 5 } };
    expect(await server.ask({ method: "POST", path, body })).toMatchObject({ code: 201 });
    expectRefused(await change([size], `${path}/many`), workloadPolicy, "none in kube-system or levee-system");
  });

  test("nor those of a namespace that a site has named critical, whatever the label's value", async () => {
    const path = "/apis/apps/v1/namespaces/ingress/deployments";
    const metadata = { name: "many", labels: { app: "cni" } };
    const body = { ...daemonSet, kind: "Deployment", metadata, spec: { ...daemonSet.spec, replicas: 5 } };
    expect(await server.ask({ method: "POST", path, body })).toMatchObject({ code: 201 });
    expectRefused(await change([size], `${path}/many`), workloadPolicy, "the label levee.dev/critical");
    // A restart ends no pod for good.
    const time = { op: "add", path: restart, value: "2026-05-11T10:30:00Z" };
    expect(await change([time], `${path}/many?dryRun=All`)).toMatchObject({ code: 200 });
  });
});

const podSpec = { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] };

group("suspends Jobs and CronJobs", () => {
  const policy = "levee-guard-suspends-jobs-only";
  const batch = "/apis/batch/v1/namespaces";
  const jobSpec = { parallelism: 50, template: { spec: podSpec } };
  const suspend = { op: "replace", path: "/spec/suspend", value: true };

  async function made(namespace: string, kind: "Job" | "CronJob"): Promise<string> {
    const path = `${batch}/${namespace}/${kind.toLowerCase()}s`;
    const spec = kind === "Job" ? jobSpec : { schedule: "* * * * *", jobTemplate: { spec: jobSpec } };
    const body = { apiVersion: "batch/v1", kind, metadata: { name: "many", labels: { keep: "1" } }, spec };
    expect([201, 409]).toContain((await server.ask({ method: "POST", path, body })).code);
    return `${path}/many`;
  }

  test.each(["Job", "CronJob"] as const)("%ss, and never lets one run again", async (kind) => {
    const path = await made("fc", kind);
    expect(await change([suspend], `${path}?dryRun=All`)).toMatchObject({ code: 200 });
    for (const operations of [
      [suspend, { op: "add", path: "/metadata/annotations", value: { a: "b" } }],
      [suspend, { op: "add", path: "/metadata/finalizers", value: ["example.com/stay"] }],
      [suspend, { op: "replace", path: "/metadata/labels/keep", value: "2" }],
      [suspend, { op: "add", path: "/metadata/ownerReferences", value: [owner] }],
      ...(kind === "Job"
        ? [
            [{ op: "replace", path: "/spec/backoffLimit", value: 9 }],
            [{ op: "add", path: "/spec/activeDeadlineSeconds", value: 1 }],
          ]
        : [
            [{ op: "replace", path: "/spec/schedule", value: "1 * * * *" }],
            [{ op: "replace", path: "/spec/concurrencyPolicy", value: "Replace" }],
            [{ op: "replace", path: "/spec/jobTemplate/spec/parallelism", value: 1 }],
          ]),
    ])
      expectRefused(await change(operations, `${path}?dryRun=All`), policy, "the guard changes n");
    expect(await change([suspend], path)).toMatchObject({ code: 200 });
    expectRefused(await change([{ ...suspend, value: false }], path), policy, "never back");
    expectRefused(await asGuard({ method: "DELETE", path }), "levee-guard-", "the guard");
    const status = { method: "PATCH", path: `${path}/status`, body: { status: {} }, type: mergePatch } as const;
    expectRefused(await asGuard(status), "levee-guard-", "the guard");
  });

  test("and lowers the parallelism of a Job, in no namespace of the system", async () => {
    const path = await made("fc", "Job");
    const fewer = { op: "replace", path: "/spec/parallelism", value: 3 };
    expect(await change([fewer], `${path}?dryRun=All`)).toMatchObject({ code: 200 });
    for (const value of [51, 0]) expectRefused(await change([{ ...fewer, value }], path), policy, "downwards only");
    expectRefused(await change([suspend], await made("kube-system", "CronJob")), policy, "kube-system");
    for (const kind of ["Job", "CronJob"] as const)
      expectRefused(await change([suspend], await made("ingress", kind)), policy, "the label levee.dev/critical");
  });
});

group("stops sources", () => {
  const policy = "levee-guard-stops-sources-only";
  const namespace = "/api/v1/namespaces/fc";

  test("by its label and its quota", async () => {
    const body = { metadata: { labels: { "levee.dev/ownerless-pods": "deny" } } };
    expect(await asGuard({ method: "PATCH", path: namespace, body, type: mergePatch })).toMatchObject({ code: 200 });
    expect(await quota("levee-ownerless-pods", { pods: "30" })).toMatchObject({ code: 201 });
  });

  function quota(name: string, hard: object): Promise<Answer> {
    const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec: { hard } };
    return asGuard({ method: "POST", path: `${namespace}/resourcequotas?dryRun=All`, body });
  }

  test.each([
    ["another label", { labels: { "pod-security.kubernetes.io/enforce": "privileged" } }],
    ["a label that goes", { labels: { team: null } }],
    ["its own label with another word", { labels: { "levee.dev/ownerless-pods": "allow" } }],
    ["its own label that goes", { labels: { "levee.dev/ownerless-pods": null } }],
    ["an annotation", { annotations: { a: "b" } }],
    ["a finalizer", { finalizers: ["example.com/stay"] }],
  ])("never by %s", async (_what, metadata) => {
    const answer = await asGuard({ method: "PATCH", path: namespace, body: { metadata }, type: mergePatch });
    expect([answer.code, answer.text]).toEqual([403, expect.stringContaining(policy) as string]);
  });

  test("never by a quota of other things or of another name, nor by ending the namespace", async () => {
    expectRefused(await quota("levee-ownerless-pods", { pods: "1", cpu: "1" }), policy, "of pods only");
    expectRefused(await quota("other", { pods: "1" }), policy, "one quota");
    expectRefused(await asGuard({ method: "DELETE", path: namespace }), policy, "nothing else");
  });
});

group("the guard's account", () => {
  test.each([
    ["a Secret", "/api/v1/namespaces/fc/secrets", { kind: "Secret" }],
    ["a ConfigMap of others", "/api/v1/namespaces/levee-system/configmaps", { kind: "ConfigMap" }],
    ["a token", "/api/v1/namespaces/levee-system/serviceaccounts/levee-guard/token", { kind: "TokenRequest" }],
    ["a role", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { kind: "ClusterRole" }],
    ["a Job", "/apis/batch/v1/namespaces/fc/jobs", { kind: "Job" }],
    ["a Decision elsewhere", "/apis/levee.dev/v1alpha1/namespaces/fc/decisions", { kind: "Decision" }],
    ["an approval", "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisionapprovals", { kind: "DecisionApproval" }],
    ["a Lease of a node", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { kind: "Lease" }],
  ])("does not write %s, whatever rights it has", async (_what, path, { kind }) => {
    const body = bodyOf(kind, path);
    // Two policies refuse an approval, and either may answer first.
    const words = kind === "DecisionApproval" ? "" : "the guard ";
    expectRefused(await asGuard({ method: "POST", path: `${path}?dryRun=All`, body }), "levee-", words);
  });

  test("writes its Lease, its state and its Events", async () => {
    const here = "namespaces/levee-system";
    for (const [path, kind] of [
      [`/apis/coordination.k8s.io/v1/${here}/leases`, "Lease"],
      [`/api/v1/${here}/configmaps`, "ConfigMap"],
      [`/api/v1/${here}/events`, "Event"],
      ["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "SelfSubjectAccessReview"],
    ] as const) {
      const body = { ...bodyOf(kind, path), metadata: { name: "levee-guard", namespace: "levee-system" } };
      const own = kind === "SelfSubjectAccessReview" ? { ...body, metadata: {} } : body;
      expect(await asGuard({ method: "POST", path, body: own })).toMatchObject({ code: 201 });
    }
  });

  test("with its own roles alone: one kubectl command stops all it does to others, and it still tells what it sees", async () => {
    server.must(["delete", "clusterrolebinding", "too-much"]);
    const uid = await makePod(server, { name: "last", node: "n1" });
    const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid }, dryRun: ["All"] };
    const ask: Ask = { method: "DELETE", path: `${pods}/last`, body, as: guard };
    expect(await server.ask(ask)).toMatchObject({ code: 200 });
    server.must(["delete", "clusterrolebinding", "levee-guard-acts"]);
    const { text } = await untilAnswer(server, ask, ({ code }) => code === 403);
    expect(text).toContain("cannot delete resource");
    expect(await asGuard({ method: "GET", path: pods })).toMatchObject({ code: 200 });
    const decisions = "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisions";
    expect(await asGuard({ method: "GET", path: decisions })).toMatchObject({ code: 200 });
  });
});

const said = { decision: "x", decisionUID: "x", planHash: `sha256:${"0".repeat(64)}`, verdict: "Approve" };

/** As little as the API server takes. */
function bodyOf(kind: string, path: string): object {
  const [, , first = "", second = ""] = path.split("/");
  const apiVersion = path.startsWith("/api/") ? first : `${first}/${second}`;
  const specs: Readonly<Record<string, object>> = {
    TokenRequest: { apiVersion: "authentication.k8s.io/v1", metadata: {}, spec: { audiences: [] } },
    Job: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } } } },
    Event: { involvedObject: { namespace: "levee-system" } },
    SelfSubjectAccessReview: { spec: { resourceAttributes: { verb: "get", resource: "pods" } } },
    Decision: fullDecision("x", "fc"),
    DecisionApproval: { spec: { ...said, by: { username: guardUser } } },
  };
  return { apiVersion, kind, metadata: { name: "x" }, ...specs[kind] };
}
