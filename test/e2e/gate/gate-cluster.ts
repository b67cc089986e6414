import { join } from "node:path";
import { guardUser, untilAnswer } from "../guard/guard-server.ts";
import { mergePatch, PolicyServer } from "../policy-server.ts";
import { releaseText } from "../shipped/release-text.ts";

const deploy = join(import.meta.dir, "../../../deploy");
const home = "levee-system";

/** An API server with Levee as shipped and nodes that are objects only: nothing runs but what the tests start. */
export async function startGateCluster(nodes: readonly string[]): Promise<PolicyServer> {
  const server = await PolicyServer.start();
  try {
    server.must(["apply", "-k", join(deploy, "crd")]);
    server.must(["apply", "-f", "-"], releaseText("install.yaml"));
    server.must(["apply", "-f", "-"], releaseText("guard.yaml"));
    // A definition is served some seconds after it was made; a guard that meets it before waits for longer.
    for (const path of ["rebootgates", ...["decisions", "decisionapprovals", "rebootexceptions"].map(inHome)])
      await untilAnswer(
        server,
        { method: "GET", path: `/apis/levee.dev/v1alpha1/${path}` },
        ({ code }) => code === 200,
      );
    for (const node of nodes) await makeNode(server, node);
    for (const node of nodes) for (const owner of ["levee", "levee-hand"]) await makeDaemonPod(server, node, owner);
    server.must(["-n", "kube-system", "create", "serviceaccount", "kured"]);
    server.must([
      "create",
      "clusterrolebinding",
      "kured",
      "--clusterrole=cluster-admin",
      "--serviceaccount=kube-system:kured",
    ]);
    return server;
  } catch (thrown) {
    await server.stop();
    throw thrown;
  }
}

function inHome(resource: string): string {
  return `namespaces/${home}/${resource}`;
}

/** The DaemonSet in whose annotation kured keeps its lock. */
export function makeKuredSet(server: PolicyServer, name: string): void {
  const labels = { name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "kured", image: "example.com/none" }] } };
  const spec = { selector: { matchLabels: labels }, template };
  const set = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name, namespace: "kube-system" }, spec };
  server.must(["apply", "-f", "-"], JSON.stringify(set));
}

export function podOf(node: string, owner = "levee"): string {
  return `${owner}-${node}`;
}

/** The gate's label of both pods of a node; one word when they agree. */
export function doorOf(server: PolicyServer, node: string): string {
  const path = "jsonpath={.metadata.labels.levee\\.dev/reboot}";
  const labels = ["levee", "levee-hand"].map((owner) =>
    server.must(["-n", home, "get", "pod", podOf(node, owner), "-o", path]),
  );
  return [...new Set(labels)].join(" ");
}

/** The same without kubectl, for who asks often. */
export async function askDoor(server: PolicyServer, node: string): Promise<string> {
  const labels = ["levee", "levee-hand"].map(async (owner) => {
    const path = `/api/v1/namespaces/${home}/pods/${podOf(node, owner)}`;
    const { text } = await server.ask({ method: "GET", path });
    const pod = JSON.parse(text) as { metadata: { labels: Readonly<Record<string, string>> } }; // what the API server prints
    return pod.metadata.labels["levee.dev/reboot"] ?? "";
  });
  return [...new Set(await Promise.all(labels))].join(" ");
}

export interface WrittenGate {
  readonly node: string;
  readonly verdict: "Allow" | "Deny";
  readonly observedInMs: number;
  readonly standsMs: number;
}

/** A verdict as the guard writes it, of a clock that differs from ours. */
export async function writeGate(server: PolicyServer, gate: WrittenGate): Promise<void> {
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString().replace(/\.\d+Z$/u, "Z");
  const { node, verdict, observedInMs, standsMs } = gate;
  const status = {
    ...{ verdict, reasons: [], exceptions: [], leader: "test", fence: 1_000 },
    ...{ observedAt: at(observedInMs), expiresAt: at(observedInMs + standsMs) },
  };
  const body = { apiVersion: "levee.dev/v1alpha1", kind: "RebootGate", metadata: { name: node }, status };
  const path = `/apis/levee.dev/v1alpha1/rebootgates/${node}`;
  await server.ask({ method: "DELETE", path });
  const made = await server.ask({
    method: "POST",
    path: path.slice(0, path.lastIndexOf("/")),
    body,
    as: { user: guardUser },
  });
  if (made.code !== 201) throw new Error(`The gate cannot be written: ${made.text}`);
}

/** A pod that a drain removes at once. */
export async function makeWorkload(server: PolicyServer, node: string): Promise<void> {
  const body = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default" },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "main", image: "example.com/none" }],
    },
  };
  server.must(["apply", "-f", "-"], JSON.stringify(body));
}

async function makeNode(server: PolicyServer, name: string): Promise<void> {
  server.must(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name } }));
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const status = { conditions, addresses: [{ type: "InternalIP", address: "127.0.0.1" }] };
  const path = `/api/v1/nodes/${name}/status`;
  const set = await server.ask({ method: "PATCH", path, body: { status }, type: mergePatch });
  if (set.code !== 200) throw new Error(`The status of ${name} cannot be set: ${set.text}`);
  // A node is born with a taint that its controller would take away.
  server.must(["patch", "node", name, "--type=merge", "-p", '{"spec":{"taints":null}}']);
}

async function makeDaemonPod(server: PolicyServer, node: string, owner: string): Promise<void> {
  const found = server.must(["-n", home, "get", "daemonset", owner, "-o", "json"]);
  const set = JSON.parse(found) as {
    metadata: { uid: string };
    spec: { template: { metadata: { labels: object } } };
  }; // what the API server prints
  const { uid } = set.metadata;
  const owners = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: owner, uid, controller: true }];
  const body = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podOf(node, owner),
      namespace: home,
      labels: set.spec.template.metadata.labels,
      ownerReferences: owners,
    },
    spec: { nodeName: node, serviceAccountName: owner, containers: [{ name: "main", image: "example.com/none" }] },
  };
  server.must(["apply", "-f", "-"], JSON.stringify(body));
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  const path = `/api/v1/namespaces/${home}/pods/${podOf(node, owner)}/status`;
  const answer = await server.ask({ method: "PATCH", path, body: { status }, type: mergePatch });
  if (answer.code !== 200) throw new Error(`The status of ${podOf(node, owner)} cannot be set: ${answer.text}`);
}
