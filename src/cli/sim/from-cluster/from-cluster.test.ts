import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer, ScriptedServer } from "../../../kube/client/scripted-server.fixture.ts";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";

let server: ScriptedServer;
let folder: string;
let requests: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "levee-sim-cluster-"));
  requests = [];
  server = await ScriptedServer.listen(({ method, url }, response) => {
    requests.push(method);
    const body = bodies()[url.pathname];
    if (typeof body === "string") response.end(body);
    else answer(response, body ?? { kind: "Status", status: "Failure", code: 404 }, body === undefined ? 404 : 200);
  });
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

let limits: Readonly<Record<string, string>> = { memory: "50Mi" };
let isMultus = false;
let metrics: string | undefined;

/** Text as it is, everything else as JSON. */
function bodies(): Readonly<Record<string, unknown>> {
  const list = (items: readonly unknown[]): unknown => ({ metadata: { resourceVersion: "1" }, items });
  const container = { name: "daemon", image: isMultus ? "example.test/multus:v4.2.2" : "levee", resources: { limits } };
  const labels = isMultus ? {} : { "app.kubernetes.io/name": "levee", "app.kubernetes.io/component": "daemon" };
  return {
    "/api/v1/nodes": list([{ metadata: { name: "agent1" } }, { metadata: { name: "agent2" } }]),
    "/api/v1/pods": list([...podsOn("agent1", 60), ...podsOn("agent2", 5)]),
    "/apis/apps/v1/daemonsets": list([
      {
        metadata: { namespace: "kube-system", name: isMultus ? "kube-multus-ds" : "levee", labels },
        spec: { selector: {}, template: { spec: { containers: [container] } } },
        status: {},
      },
    ]),
    ...(metrics === undefined ? {} : { "/api/v1/nodes/http:agent1:9810/proxy/metrics": metrics }),
  };
}

function podsOn(nodeName: string, count: number): readonly unknown[] {
  const annotations = { "k8s.v1.cni.cncf.io/networks": "lan" };
  return Array.from({ length: count }, (_, number) => ({
    metadata: { namespace: "web", name: `${nodeName}-${number}`, annotations },
    spec: { nodeName, ...(number < 2 ? { priority: 2_000_001_000 } : {}) },
    status: { phase: "Running" },
  }));
}

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigOf(server.url));
  const shell = fakeShell({ argv: ["sim", "--from-cluster", "--kubeconfig", kubeconfig, ...argv], isRoot: false });
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

function kubeconfigOf(url: string): string {
  return JSON.stringify({
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "one",
    "contexts": [{ name: "one", context: { cluster: "one", user: "one" } }],
    "clusters": [{ name: "one", cluster: { server: url } }],
    "users": [{ name: "one", user: {} }],
  });
}

describe("levee sim --from-cluster", () => {
  test("says of each node what it holds, where it breaks with Levee and with Multus, and which limit is enough", async () => {
    [limits, isMultus, metrics] = [{ memory: "50Mi" }, false, undefined];
    const { status, out, err } = await levee("--max-pods", "200");
    expect(err).not.toContain("Error");
    expect(out).toStartWith("Levee at 50Mi, plugins as in the model; every pod of a node at once, simulated\n");
    expect(out).toMatch(
      /✓ node agent1 holds its 60 pods at once; it does not break up to 200; with Multus at 50Mi it would break at \d+; with Levee the limit for 60 is \d+Mi \(140 pods from the next outage\)/u,
    );
    expect(out).toContain("‼ Not known: no daemon told what its plugins cost");
    expect(status).toBe(0);
    expect([...new Set(requests)]).toEqual(["GET"]);
  }, 180_000);

  test("a cluster with Multus as it is shipped does not hold its own pods, and ends with 1", async () => {
    [limits, isMultus, metrics] = [{ memory: "50Mi", cpu: "100m" }, true, undefined];
    const { status, out, err } = await levee("--max-pods", "100", "-o", "json");
    const value = JSON.parse(out) as { nodes: { name: string; room: number; now: { why: string } }[] };
    expect(value.nodes.map(({ name }) => name)).toEqual(["agent1", "agent2"]);
    expect(value.nodes[0]?.room).toBeLessThan(0);
    expect(value.nodes[0]?.now.why).not.toBe("");
    expect(err).toContain("nodes do not hold their own pods at once (storm-broke)");
    expect(status).toBe(1);
  }, 180_000);

  test("takes what the plugins cost from the daemons' own metrics", async () => {
    [limits, isMultus] = [{ memory: "50Mi" }, false];
    metrics = [
      'levee_delegate_seconds_count{plugin="bridge",verb="ADD"} 50',
      'levee_delegate_cpu_seconds_total{plugin="bridge",verb="ADD"} 0.9',
      'levee_delegate_cpu_seconds_total{plugin="bridge",verb="DEL"} 100',
    ].join("\n");
    const { out } = await levee("--max-pods", "40");
    expect(out).toContain("plugins need 18 ms of CPU per run, by 50 runs");
    expect(out).not.toContain("Not known");
  }, 180_000);

  test("a cluster that cannot be reached is said to be so", async () => {
    const kubeconfig = join(folder, "away");
    writeFileSync(kubeconfig, kubeconfigOf("http://127.0.0.1:1"));
    const shell = fakeShell({ argv: ["sim", "--from-cluster", "--kubeconfig", kubeconfig] });
    expect(await runCli(shell)).toBe(3);
    expect(shell.stderr.text).toContain("Cannot read the nodes of the cluster");
  }, 60_000);
});
