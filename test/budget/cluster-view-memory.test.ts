import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** How much more 5,000 networks and 250 pods may cost than none. */
const budgetKib = 10 * 1024;
const networkCount = 5000;
const podCount = 250;

interface Memory {
  readonly pods: number;
  readonly networks: number;
  readonly rssKib: number;
  readonly anonymousKib: number;
  readonly peakKib: number;
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "", "http://localhost");
  const isFull = url.pathname.startsWith("/full");
  const isNetworks = url.pathname.endsWith("network-attachment-definitions");
  const count = isFull ? (isNetworks ? networkCount : podCount) : 0;
  // A server without streamed lists: it answers with the whole list at once.
  if (url.searchParams.has("sendInitialEvents")) response.writeHead(422).end();
  else if (url.searchParams.has("watch")) response.flushHeaders();
  else sendList(response, count, isNetworks ? network : pod);
});

beforeAll(async () => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test("ClusterView holds 5,000 networks and 250 pods in 10 MiB more than none", async () => {
  const { empty, full } = await measure();
  expect(empty).toMatchObject({ networks: 0, pods: 0 });
  expect(full).toMatchObject({ networks: networkCount, pods: podCount });
  const rssKib = full.rssKib - empty.rssKib;
  const anonymousKib = full.anonymousKib - empty.anonymousKib;
  console.log(
    `5,000 networks and 250 pods: ${rssKib} KiB of RSS, ${anonymousKib} KiB anonymous, on top of ${empty.rssKib}; peak ${full.peakKib}`,
  );
  expect(Math.max(rssKib, anonymousKib)).toBeLessThan(budgetKib);
}, 60_000);

async function measure(): Promise<{ empty: Memory; full: Memory }> {
  const { port } = server.address() as AddressInfo;
  const child = spawn(
    process.execPath,
    [join(import.meta.dir, "cluster-view-process.ts"), `http://127.0.0.1:${port}`],
    // As the daemon is started: compiled code would be counted as well.
    { env: { ...process.env, BUN_JSC_useJIT: "0" }, stdio: ["ignore", "pipe", "inherit"] },
  );
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await new Promise((resolve) => child.once("close", resolve));
  return JSON.parse(output) as { empty: Memory; full: Memory };
}

function sendList(response: ServerResponse, count: number, make: (index: number) => unknown): void {
  const items = Array.from({ length: count }, (_, index) => make(index));
  response.end(JSON.stringify({ kind: "List", metadata: { resourceVersion: "1000" }, items }));
}

/** Fields that the API server adds to every object and that Levee does not read. */
function metadata(name: string, namespace: string, annotations: object): unknown {
  const uid = `5f0c6d1e-9a43-4c1b-8f7e-${Bun.hash.crc32(name).toString(16).padStart(12, "0")}`;
  const managedFields = [
    {
      manager: "kubectl",
      operation: "Update",
      time: "2026-01-01T00:00:00Z",
      fieldsV1: { "f:spec": { "f:config": {} } },
    },
  ];
  return { name, namespace, uid, resourceVersion: "999", generation: 1, annotations, managedFields };
}

function network(index: number): unknown {
  const config = `{"cniVersion":"1.0.0","name":"net-${index}","type":"macvlan","master":"bond0.${index}","mode":"bridge","mtu":1500,"ipam":{"type":"whereabouts","range":"10.${index >> 8}.${index & 255}.0/24","gateway":"10.${index >> 8}.${index & 255}.1","exclude":["10.${index >> 8}.${index & 255}.0/28"],"routes":[{"dst":"172.16.0.0/12"}],"log_level":"error"}}`;
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: metadata(`network-${index}`, `namespace-${index % 500}`, {
      "k8s.v1.cni.cncf.io/resourceName": `intel.com/sriov_${index % 20}`,
      "kubectl.kubernetes.io/last-applied-configuration": config,
    }),
    spec: { config },
  };
}

function pod(index: number): unknown {
  const status =
    `[{"name":"cbr0","interface":"eth0","ips":["10.1.0.${index}"],"mac":"0a:58:0a:01:00:${index.toString(16)}","default":true,"dns":{}}]`.padEnd(
      800,
    );
  const annotations = {
    "k8s.v1.cni.cncf.io/networks": `namespace-1/network-${index}`,
    "k8s.v1.cni.cncf.io/network-status": status,
    "prometheus.io/scrape": "true",
  };
  const container = {
    name: "main",
    image: "registry/app:1",
    env: Array.from({ length: 60 }, (_, at) => ({ name: `VARIABLE_${at}`, value: "some value that is not short" })),
  };
  return {
    metadata: metadata(`pod-${index}`, `namespace-${index % 20}`, annotations),
    spec: { nodeName: "node-1", priority: 0, containers: [container, container] },
    status: {
      phase: "Running",
      conditions: Array.from({ length: 5 }, () => ({
        type: "Ready",
        status: "True",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      })),
    },
  };
}
