import { objectOf, textOf } from "../../../src/kube/client/json-fields.ts";
import { objectsOf } from "../../../src/guard/json-values.ts";
import type { PolicyServer } from "../policy-server.ts";
import { until } from "../until.ts";
import { desktopPod } from "./operator.ts";

/** Made by a person. */
const debugPods = 3;
const jobPods = 2;
const mirror = { "kubernetes.io/config.mirror": "1", "kubernetes.io/config.source": "file" };

/**
 * Pods in the same namespace that wait as long as the others and are nobody's to remove: a person's debug pods,
 * the pods of a Job, and static pods as kubelet shows them, of the operator's own make but for that.
 */
export async function makeBystanders(server: PolicyServer, namespace: string, nodes: readonly string[]): Promise<void> {
  const node = nodes[0] ?? "";
  const bob = { user: "bob", group: "system:masters" };
  const kubelet = { user: `system:node:${node}`, group: "system:masters" };
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const people = Array.from({ length: debugPods }, (_, index) => ({
    as: bob,
    body: plainPod(`debug-${index}`, node, `example.com/tools:${index}`),
  }));
  const statics = [
    { as: kubelet, body: desktopPod({ name: `etcd-${node}`, annotations: mirror }, node) },
    { as: kubelet, body: desktopPod({ name: `proxy-${node}`, annotations: mirror }, node) },
  ];
  for (const { as, body } of [...people, ...statics]) {
    const { code, text } = await server.ask({ method: "POST", path, body, as });
    if (code !== 201) throw new Error(`A bystander cannot be made: ${text}`);
  }
  server.must(["create", "-f", "-"], JSON.stringify(job(namespace)));
  await until("the Job has its pods", async () => {
    const found = await bystanderUids(server, namespace);
    return found.size === debugPods + statics.length + jobPods ? true : undefined;
  });
}

/** UIDs by name, of whatever is not the operator's. */
export async function bystanderUids(server: PolicyServer, namespace: string): Promise<ReadonlyMap<string, string>> {
  const { text } = await server.ask({ method: "GET", path: `/api/v1/namespaces/${namespace}/pods` });
  const found = objectsOf(objectOf(JSON.parse(text))["items"]).map((pod) => objectOf(pod["metadata"]));
  return new Map(
    found
      .map((metadata) => [textOf(metadata["name"]), textOf(metadata["uid"])] as const)
      .filter(([name]) => !name.startsWith("rd-")),
  );
}

function plainPod(name: string, node: string, image: string): object {
  const metadata = { name, labels: { run: name } };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: node, containers: [{ name, image }] } };
}

function job(namespace: string): object {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example.com/report" }] } };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "report", namespace },
    spec: { completions: jobPods, parallelism: jobPods, template },
  };
}
