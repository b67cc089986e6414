/** Many nodes follow one API server, and its own counters say what they cost it. docs/scale.md quotes them. */
import { expect, test } from "bun:test";
import { silentLogger } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import { fixedAccess } from "../../src/kube/access/access.ts";
import { ApiClient } from "../../src/kube/client/api-client.ts";
import { ClusterView } from "../../src/kube/watch/cluster-view.ts";
import { needsServer } from "./needs-server.ts";
import { adminToken, PolicyServer } from "./policy-server.ts";

const { group, beforeAll, afterAll } = needsServer("api-lists");
const nodes = 30;
const podsOfNode = 10;

group("thirty nodes follow an API server", () => {
  let server: PolicyServer;

  beforeAll(async () => {
    server = await PolicyServer.start();
    const items = Array.from({ length: nodes * podsOfNode }, (_, at) => pod(`p${at}`, nodeName(at % nodes)));
    server.must(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  }, 120_000);

  afterAll(async () => server.stop());

  test("no first list reads a pod from etcd, and each node gets its own pods", async () => {
    const before = await fetchedFromEtcd(server);
    await using views = new AsyncDisposableStack();
    for (let at = 0; at < nodes; at += 1) {
      const access = fixedAccess(server.url, { token: adminToken, tls: { rejectUnauthorized: false } });
      const api = new ApiClient({ access, clock: systemClock });
      const view = new ClusterView({ api, clock: systemClock, logger: silentLogger, nodeName: nodeName(at) });
      views.defer(async () => {
        await view.close();
        api.close();
      });
      await view.podsSynced();
      expect([...view.pods()].length).toBe(podsOfNode);
    }
    expect((await fetchedFromEtcd(server)) - before).toBe(0);
  });
});

function nodeName(at: number): string {
  return `node-${at}`;
}

function pod(name: string, node: string): unknown {
  const spec = { nodeName: node, automountServiceAccountToken: false, containers: [{ name: "c", image: "c" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec };
}

/** How many pods the server has read from etcd for lists. */
async function fetchedFromEtcd(server: PolicyServer): Promise<number> {
  const { text } = await server.ask({ method: "GET", path: "/metrics" });
  const lines = text.matchAll(/^apiserver_storage_list_fetched_objects_total\{[^}]*pods[^}]*\} (\S+)$/gmu);
  return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
}
