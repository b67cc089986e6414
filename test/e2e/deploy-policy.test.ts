/** The rights in the shipped manifests, tried on a real API server: RBAC, the admission policy, and the step from Multus. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fakeShell } from "../../src/cli/fake-shell.fixture.ts";
import { runCli } from "../../src/cli/main.ts";
import { mergePatch, missingForApiServer, PolicyServer, type Answer } from "./policy-server.ts";
import { releaseText } from "./shipped/release-text.ts";

const deploy = join(import.meta.dir, "../../deploy");
const missing = missingForApiServer();
if (missing !== undefined) console.warn(`deploy-policy: skipped, ${missing}`);

const statusKey = "k8s.v1.cni.cncf.io/network-status";
const manifests = [
  { file: "install.yaml", namespace: "levee-system", account: "levee" },
  { file: "multus-drop-in.yaml", namespace: "kube-system", account: "levee" },
] as const;

const multus = join(import.meta.dir, "../../src/cli/move-in/migrate/fixtures/multus-v4.2.2.yaml");

describe.skipIf(missing !== undefined)("multus-drop-in.yaml over a running Multus", () => {
  test("a node that still runs Multus and one that runs Levee write network-status at the same time", async () => {
    const server = await PolicyServer.start();
    try {
      server.must(["apply", "-f", multus]);
      for (const node of ["node-a", "node-b"]) server.must(["apply", "-f", "-"], nodeObject(node));
      const old = { name: "multus-b", namespace: "kube-system", account: "multus", node: "node-b" };
      server.must(["apply", "-f", "-"], podObject(old));
      // Multus has its token already when the drop-in comes.
      const theirs = server.tokenOf(old);
      server.must(["apply", "-f", "-"], releaseText("multus-drop-in.yaml"));
      const next = { name: "daemon-a", namespace: "kube-system", account: "levee", node: "node-a" };
      for (const pod of [
        next,
        { name: "web-node-a", namespace: "default", node: "node-a" },
        { name: "web-node-b", namespace: "default", node: "node-b" },
      ])
        server.must(["apply", "-f", "-"], podObject(pod));
      const ours = server.tokenOf(next);
      await untilPolicyWorks(server, ours);
      for (const value of ["[]", '[{"name":"a"}]']) {
        const [byMultus, byLevee] = await Promise.all([
          writeAsMultus(server, "web-node-b", { value, token: theirs }),
          server.patchStatus("web-node-a", { metadata: { annotations: { [statusKey]: value } } }, ours),
        ]);
        expect([byMultus, byLevee].map(({ code, text }) => (code === 200 ? 200 : text))).toEqual([200, 200]);
      }
      for (const pod of ["web-node-a", "web-node-b"]) {
        const seen = server.must(["get", "pod", pod, "-o", "jsonpath={.metadata.annotations}"]);
        expect(JSON.parse(seen)).toMatchObject({ "example.com/keep": "1", [statusKey]: '[{"name":"a"}]' });
      }
      const crossed = await server.patchStatus(
        "web-node-b",
        { metadata: { annotations: { [statusKey]: "[]" } } },
        ours,
      );
      expect(crossed.text).toContain("its own node only");
      // The policy does not look at Multus, so Multus may do as before what Levee may not.
      expect(await writeAsMultus(server, "web-node-a", { value: "[]", token: theirs })).toMatchObject({ code: 200 });
    } finally {
      await server.stop();
    }
  }, 120_000);

  test("kubectl apply replaces the whole pod template and keeps the names", async () => {
    const server = await PolicyServer.start();
    try {
      server.must(["apply", "-f", multus]);
      const kubeconfig = await server.kubeconfig();
      const dropIn = join(dirname(kubeconfig), "drop-in.yaml");
      writeFileSync(dropIn, releaseText("multus-drop-in.yaml"));
      const argv = ["migrate", "--check", "--kubeconfig", kubeconfig, "--drop-in", dropIn];
      const shell = fakeShell({ argv });
      expect({ status: await runCli(shell), err: shell.stderr.text }).toEqual({ status: 0, err: "" });
      expect(shell.stdout.text).toContain("✓ DaemonSet kube-system/kube-multus-ds: the drop-in has the same name");
      server.must(["apply", "-f", "-"], releaseText("multus-drop-in.yaml"));
      const template = (): Template => {
        const found = server.must(["get", "daemonset", "kube-multus-ds", "-n", "kube-system", "-o", "json"]);
        return (JSON.parse(found) as { spec: { template: Template } }).spec.template; // what the API server prints
      };
      const ours = template();
      server.must(["delete", "daemonset", "kube-multus-ds", "-n", "kube-system"]);
      server.must(["apply", "-f", "-"], releaseText("multus-drop-in.yaml"));
      expect(ours).toEqual(template());
      expect(ours.spec.hostPID).toBeUndefined();
      expect(ours.spec.containers.map((container) => container.name)).toEqual(["kube-multus"]);
      const back = server.kubectl(["apply", "-f", multus]);
      expect(back.stderr).toBe("");
      expect(template().spec.hostPID).toBe(true);
    } finally {
      await server.stop();
    }
  }, 120_000);
});

interface Template {
  readonly spec: { readonly hostPID?: boolean; readonly containers: readonly { readonly name: string }[] };
}

describe.skipIf(missing !== undefined).each(manifests)("$file", ({ file, namespace, account }) => {
  let server: PolicyServer;
  let token = "";

  beforeAll(async () => {
    server = await PolicyServer.start();
    for (const crd of ["network-attachment-definition", "reboot-gate"])
      server.must(["apply", "-f", join(deploy, `crd/${crd}.yaml`)]);
    server.must(["apply", "-f", "-"], releaseText(file));
    for (const node of ["node-a", "node-b"]) server.must(["apply", "-f", "-"], nodeObject(node));
    server.must(["apply", "-f", "-"], podObject({ name: "daemon-a", namespace, account, node: "node-a" }));
    for (const node of ["node-a", "node-b"])
      server.must(["apply", "-f", "-"], podObject({ name: `web-${node}`, namespace: "default", node }));
    token = server.tokenOf({ namespace, name: "daemon-a", account });
    await untilPolicyWorks(server, token);
  }, 120_000);

  afterAll(() => server.stop());

  function patch(what: unknown, options: { readonly pod?: string; readonly as?: string } = {}): Promise<Answer> {
    return server.patchStatus(options.pod ?? "web-node-a", what, options.as ?? token);
  }

  test("the daemon may write network-status of a pod of its node, and write it again", async () => {
    for (const value of ["[]", '[{"name":"a"}]']) {
      const end = await patch({ metadata: { annotations: { [statusKey]: value } } });
      expect(end).toMatchObject({ code: 200 });
    }
    const seen = server.must(["get", "pod", "web-node-a", "-o", "jsonpath={.metadata.annotations}"]);
    expect(JSON.parse(seen)).toMatchObject({ "example.com/keep": "1", [statusKey]: '[{"name":"a"}]' });
  });

  test.each([
    ["a pod of another node", { metadata: { annotations: { [statusKey]: "[]" } } }, "web-node-b", "its own node only"],
    ["a label", { metadata: { labels: { app: "x" } } }, "web-node-a", "no labels"],
    [
      "another annotation",
      { metadata: { annotations: { "example.com/new": "1" } } },
      "web-node-a",
      "network-status only",
    ],
    [
      "a changed annotation",
      { metadata: { annotations: { "example.com/keep": "2" } } },
      "web-node-a",
      "network-status only",
    ],
    [
      "a removed annotation",
      { metadata: { annotations: { "example.com/keep": null } } },
      "web-node-a",
      "network-status only",
    ],
    ["the status", { status: { phase: "Failed" } }, "web-node-a", "neither spec nor status"],
    [
      "a condition",
      { status: { conditions: [{ type: "Ready", status: "True" }] } },
      "web-node-a",
      "neither spec nor status",
    ],
    ["the gate's label of a pod that is not Levee's", gate("deny"), "web-node-a", "no labels"],
    ["a finalizer", { metadata: { finalizers: ["example.com/stay"] } }, "web-node-a", "finalizers"],
  ])("the daemon may not write %s", async (_what, change, pod, words) => {
    const end = await patch(change, { pod });
    expect(end.code).toBe(403);
    expect(end.text).toContain("writes-network-status-only");
    expect(end.text).toContain(words);
  });

  test("the daemon may close the reboot gate on Levee's pods of its node, and never open it", () =>
    closesAndNeverOpens(server, { namespace, token }));

  test("a write whose UID is not the pod's is refused", async () => {
    const end = await patch({
      metadata: { uid: "00000000-0000-0000-0000-000000000000", annotations: { [statusKey]: "[]" } },
    });
    // Not 409: the API server takes it for a change of a field that never changes.
    expect(end.code).toBe(422);
  });

  test("a token that names no node may write nothing", async () => {
    const loose = server.must(["create", "token", account, "-n", namespace]).trim();
    const end = await patch({ metadata: { annotations: { [statusKey]: "[1]" } } }, { as: loose });
    expect(end.text).toContain("its own node only");
  });

  test("others are not touched by the policy", () => {
    const end = server.kubectl(["label", "pod", "web-node-b", "-n", "default", "by=admin", "--overwrite"]);
    expect(end.status).toBe(0);
  });

  test("RBAC: what the daemon needs, and nothing else", () => {
    const can = (verb: string, resource: string, subresource = ""): string =>
      server.kubectl(["auth", "can-i", verb, resource, "-A", `--subresource=${subresource}`], { token }).stdout.trim();
    const nads = "network-attachment-definitions.k8s.cni.cncf.io";
    const allowed = [
      ...["get", "list", "watch"].flatMap((verb) => [can(verb, "pods"), can(verb, nads)]),
      ...[can("patch", "pods", "status"), can("create", "events"), can("patch", "events")],
      can("get", "rebootgates.levee.dev"),
    ];
    expect(new Set(allowed)).toEqual(new Set(["yes"]));
    const refused = [
      ...["create", "update", "patch", "delete"].flatMap((verb) => [can(verb, "pods"), can(verb, nads)]),
      ...["secrets", "configmaps", "services", "leases.coordination.k8s.io"].map((what) => can("get", what)),
      ...["list", "create", "update", "patch", "delete"].map((verb) => can(verb, "rebootgates.levee.dev")),
      ...[can("update", "pods", "status"), can("create", "pods", "exec"), can("create", "serviceaccounts", "token")],
    ];
    expect(new Set(refused)).toEqual(new Set(["no"]));
  });
});

async function closesAndNeverOpens(
  server: PolicyServer,
  { namespace, token }: { readonly namespace: string; readonly token: string },
): Promise<void> {
  const own = (name: string): string => `/api/v1/namespaces/${namespace}/pods/${name}/status`;
  const write = (name: string, body: unknown): Promise<Answer> =>
    server.ask({ method: "PATCH", path: own(name), body, type: mergePatch, token });
  const labels = { "app.kubernetes.io/name": "levee", "levee.dev/reboot": "allow" };
  for (const node of ["node-a", "node-b"]) {
    server.must(["apply", "-f", "-"], podObject({ name: `hand-${node}`, namespace, node, labels }));
    server.must(["apply", "-f", "-"], podObject({ name: `other-${node}`, namespace, node }));
  }
  const bare = { name: "bare-hand-node-a", namespace, node: "node-a", account: "levee-hand" };
  server.must(["apply", "-f", "-"], podObject(bare));
  for (const change of [gate("deny"), gate("deny")])
    expect(await write("hand-node-a", change)).toMatchObject({ code: 200 });
  for (const [pod, change, words] of [
    ["hand-node-a", gate(null), "no labels"],
    ["hand-node-a", gate("allow"), "no labels"],
    ["hand-node-a", { metadata: { labels: { "app.kubernetes.io/name": null } } }, "no labels"],
    ["hand-node-a", { metadata: { labels: { "levee.dev/reboot": "deny", "more": "1" } } }, "no labels"],
    ["other-node-a", gate("deny"), "no labels"],
    ["bare-hand-node-a", gate("allow"), "no labels"],
    ["bare-hand-node-a", { metadata: { labels: { more: "1" } } }, "no labels"],
    ["hand-node-b", gate("deny"), "its own node only"],
  ] as const) {
    const end = await write(pod, change);
    expect({ pod, code: end.code, text: end.text.includes(words) ? words : end.text }).toEqual({
      pod,
      code: 403,
      text: words,
    });
  }
  // Somebody took the label away: the daemon puts it back.
  expect(await write("bare-hand-node-a", gate("deny"))).toMatchObject({ code: 200 });
  // Opened by somebody else, with another value: the daemon closes that too.
  server.must(["label", "pod", "hand-node-a", "-n", namespace, "levee.dev/reboot=allow", "--overwrite"]);
  expect(await write("hand-node-a", gate("deny"))).toMatchObject({ code: 200 });
}

/** Writes the label of the reboot gate. */
function gate(value: string | null): object {
  return { metadata: { labels: { "levee.dev/reboot": value } } };
}

interface AnnotationWrite {
  readonly value: string;
  readonly token: string;
}

/** Reads the pod and sends it back with the annotation, with Multus' rights for both. */
async function writeAsMultus(server: PolicyServer, pod: string, { value, token }: AnnotationWrite): Promise<Answer> {
  const { stdout, stderr } = server.kubectl(["get", "pod", pod, "-n", "default", "-o", "json"], { token });
  if (stdout === "") return { code: 0, text: stderr };
  const found = JSON.parse(stdout) as { readonly metadata: { readonly annotations: object } }; // what the API server prints
  const { metadata } = found;
  const annotations = { ...metadata.annotations, [statusKey]: value };
  return server.putStatus(pod, { ...found, metadata: { ...metadata, annotations } }, token);
}

/** A policy counts some seconds after it was created: until then everything is let through. */
async function untilPolicyWorks(server: PolicyServer, token: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const end = await server.patchStatus("web-node-a", { metadata: { finalizers: ["example.com/probe"] } }, token);
    if (end.code === 403 && end.text.includes("writes-network-status-only")) return;
    if (end.code === 200)
      server.must(["patch", "pod", "web-node-a", "-n", "default", "-p", '{"metadata":{"finalizers":null}}']);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error("The admission policy has no effect after 30 s");
}

function nodeObject(name: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name } });
}

interface PodSpec {
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  readonly account?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function podObject({ name, namespace, node, account, labels = {} }: PodSpec): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels, annotations: { "example.com/keep": "1" } },
    spec: {
      nodeName: node,
      ...(account === undefined ? {} : { serviceAccountName: account }),
      containers: [{ name: "main", image: "example.com/none" }],
    },
  });
}
