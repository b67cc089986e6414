/**
 * What the guard's view of a large cluster costs, against a real API server: `bun test/e2e/guard/guard-memory.ts [PODS]`.
 * Takes minutes, so it is no test; the target is 50,000 pods within 256 MiB. At each size one process lists everything
 * anew, and one that was there from the beginning has watched it grow.
 */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { adminToken, missingForApiServer, PolicyServer } from "../policy-server.ts";

const podsMax = Number(process.argv[2] ?? "50000");
const program = join(import.meta.dir, "guard-memory-process.ts");
/** Ownerless ones of one make among them: the rest has owners. */
const ownerlessShare = 0.01;
const namespaces = 50;
const lanes = 24;
const missing = missingForApiServer();
if (missing !== undefined) throw new Error(missing);

const server = await PolicyServer.start();
try {
  // Without its own definitions the guard knows nothing, and says so.
  server.must(["apply", "-k", join(import.meta.dir, "../../../deploy/crd")]);
  for (let index = 0; index < namespaces; index += 1) server.must(["create", "namespace", `ns-${index}`]);
  const watching = spawn(process.execPath, [program, server.url, adminToken, "stay"], { env: environment("0") });
  let watched = "";
  watching.stdout.on("data", (chunk: Buffer) => (watched = chunk.toString().trim().split("\n").at(-1) ?? watched));
  let made = 0;
  for (const pods of [0.02, 0.2, 0.5, 1].map((share) => Math.round(podsMax * share))) {
    const startedMs = performance.now();
    await createPods(made, pods);
    const seconds = (performance.now() - startedMs) / 1_000;
    console.log(`${pods} pods; ${Math.round((pods - made) / seconds)} made per second`);
    made = pods;
    for (const jit of ["0", "1"]) console.log(`  listed, JIT ${jit}: ${listed(jit)}`);
    console.log(`  watched, JIT 0: ${watched}`);
  }
  watching.kill();
} finally {
  await server.stop();
}

function listed(jit: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, [program, server.url, adminToken], {
    encoding: "utf8",
    env: environment(jit),
  });
  return stdout.trim() || stderr;
}

function environment(jit: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", ...daemonEnv, BUN_JSC_useJIT: jit };
}

async function createPods(from: number, to: number): Promise<void> {
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < to) {
      const index = next;
      next += 1;
      const pod = podOf(index);
      const response = await fetch(`${server.url}/api/v1/namespaces/${pod.metadata.namespace}/pods`, {
        method: "POST",
        headers: { "authorization": `Bearer ${adminToken}`, "content-type": "application/json" },
        body: JSON.stringify(pod),
        tls: { rejectUnauthorized: false },
      });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** About 5 KB as the server keeps it, which is what a pod of an ordinary cluster has. */
function podOf(index: number): { metadata: { namespace: string } } {
  const isOwnerless = index % Math.round(1 / ownerlessShare) === 0;
  const set = Math.floor(index / 20);
  const owner = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: `web-${set}`,
    uid: `00000000-0000-0000-0000-${String(set).padStart(12, "0")}`,
    controller: true,
  };
  const environmentOf = Array.from({ length: 20 }, (_, one) => ({
    name: `SETTING_${one}`,
    value: `value-${one}-${"x".repeat(60)}`,
  }));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `web-${set}-${index}`,
      namespace: isOwnerless ? "ns-0" : `ns-${index % namespaces}`,
      labels: isOwnerless ? { app: "rd" } : { "app": `web-${set}`, "pod-template-hash": String(set) },
      annotations: { "prometheus.io/scrape": "true", "checksum/config": "0".repeat(64) },
      ...(isOwnerless ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      nodeName: `node-${index % 500}`,
      containers: [
        {
          name: "web",
          image: isOwnerless ? "registry.example/rd:1" : `registry.example/web:${set}`,
          env: isOwnerless ? [] : environmentOf,
        },
      ],
    },
  };
  return pod;
}
