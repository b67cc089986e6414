/** `levee sim --from-cluster` on a real API server: what it reads, and that it only reads. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeShell } from "../../src/cli/fake-shell.fixture.ts";
import { runCli } from "../../src/cli/main.ts";
import { needsServer } from "./needs-server.ts";
import { adminToken, PolicyServer } from "./policy-server.ts";

const { group, beforeAll, afterAll } = needsServer("sim-cluster");
const podsOn = { agent1: 40, agent2: 8 } as const;

group("a cluster whose next outage is asked for", () => {
  let server: PolicyServer;
  let folder: string;

  beforeAll(async () => {
    server = await PolicyServer.start();
    folder = mkdtempSync(join(tmpdir(), "levee-sim-cluster-"));
    const items = [
      ...Object.keys(podsOn).map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })),
      ...Object.entries(podsOn).flatMap(([node, count]) => Array.from({ length: count }, (_, at) => pod(node, at))),
      daemonSet(),
    ];
    server.must(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  }, 180_000);

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  test("names each node's pods, where it breaks, and the limit; the cluster is as it was", async () => {
    const before = server.must(["get", "pods,nodes,daemonsets,events", "-A", "-o", "json"]);
    const { status, out, err } = await levee("--max-pods", "150");
    expect(err).not.toContain("Error");
    expect(status).toBe(0);
    expect(out).toStartWith("Every pod of a node at once, simulated; plugins cost what they do in the model");
    expect(out).toMatch(
      /✓ node agent1 holds 40 pods at once; .* with Multus at 50Mi and 100m of CPU it would break at \d+; the limit for 40 is \d+Mi; \d+ pods from/u,
    );
    expect(out).toContain("Levee at 50Mi and 100m of CPU");
    expect(out).toContain("node agent2 holds 8 pods at once");
    expect(server.must(["get", "pods,nodes,daemonsets,events", "-A", "-o", "json"])).toBe(before);
  }, 300_000);

  async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "contexts": [{ name: "one", context: { cluster: "one", user: "one" } }],
        "clusters": [{ name: "one", cluster: { "server": server.url, "insecure-skip-tls-verify": true } }],
        "users": [{ name: "one", user: { token: adminToken } }],
      }),
    );
    const shell = fakeShell({ argv: ["sim", "--from-cluster", "--kubeconfig", kubeconfig, ...argv], isRoot: false });
    return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
  }
});

function pod(nodeName: string, at: number): unknown {
  const annotations = { "k8s.v1.cni.cncf.io/networks": "lan" };
  const spec = { nodeName, automountServiceAccountToken: false, containers: [{ name: "c", image: "c" }] };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${nodeName}-${at}`, namespace: "default", annotations },
    spec,
  };
}

function daemonSet(): unknown {
  const labels = { "app.kubernetes.io/name": "levee", "app.kubernetes.io/component": "daemon" };
  const limits = { memory: "50Mi", cpu: "100m" };
  const containers = [{ name: "daemon", image: "levee", resources: { limits } }];
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "levee", namespace: "kube-system", labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}
