import { readFileSync } from "node:fs";
import type { KubeObject } from "./api.ts";
import type { Cluster } from "./cluster.ts";
import { nodeName } from "./machine.ts";
import { applyAll, manifest, pathOf } from "./manifests.ts";
import { apiHost, apiPort } from "./node/api-server.ts";
import { importImage } from "./node/image.ts";
import { leveeProgram, shimProgram } from "./node/levee-node.ts";
import { run } from "./run.ts";

const image = "levee.test/levee:1";

/** An image of the built programs with the machine's own C library. */
export function importLevee(cluster: Cluster): void {
  const libraries = [...run("ldd", leveeProgram).matchAll(/(\/\S+) \(0x/gu)].map(([, path]) => path ?? "");
  const files = {
    "/usr/local/bin/levee": leveeProgram,
    "/usr/local/bin/levee-shim": shimProgram,
    ...Object.fromEntries(libraries.map((path) => [path, path])),
  };
  importImage(cluster.machine.path("levee-image"), { tag: image, files, command: ["/usr/local/bin/levee"] });
}

interface DaemonSet extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: { readonly labels: unknown }; readonly spec: PodSpec } };
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly unknown[];
  readonly resources?: unknown;
}

/**
 * Applies a file of deploy/, and makes one pod of each DaemonSet, for which there is no controller here. Their names.
 * `change` is for what a site would change in the containers.
 */
export async function startShippedPods(
  cluster: Cluster,
  file: string,
  change: (container: Container) => Container = (container) => container,
): Promise<readonly string[]> {
  const objects = manifest(file);
  const daemonSets = objects.filter((object): object is DaemonSet => object.kind === "DaemonSet");
  await applyAll(
    cluster.api,
    objects.filter(({ kind }) => kind !== "DaemonSet"),
  );
  for (const daemonSet of daemonSets) {
    const namespace = daemonSet.metadata.namespace ?? "";
    await applyAll(cluster.api, [rootCertificate(cluster, namespace)]);
    await cluster.api.create(pathOf("Pod", namespace), podOf(daemonSet, namespace, change));
  }
  return daemonSets.map(({ metadata }) => `shipped-${metadata.name}`);
}

/** The template as it is; only what is different on a machine without a registry and without kube-proxy is changed. */
function podOf(daemonSet: DaemonSet, namespace: string, change: (container: Container) => Container): KubeObject {
  const { metadata, spec } = daemonSet.spec.template;
  const api = [
    { name: "KUBERNETES_SERVICE_HOST", value: apiHost },
    { name: "KUBERNETES_SERVICE_PORT", value: apiPort },
  ];
  const local = (container: Container): unknown => ({
    ...change(container),
    image,
    imagePullPolicy: "Never",
    env: [...(container.env ?? []), ...api],
  });
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `shipped-${daemonSet.metadata.name}`, namespace, labels: metadata.labels },
    spec: {
      ...spec,
      nodeName,
      containers: spec.containers.map(local),
      initContainers: (spec.initContainers ?? []).map(local),
    },
  };
}

/** Objects that a controller would put into every namespace. */
function rootCertificate(cluster: Cluster, namespace: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "kube-root-ca.crt", namespace },
    data: { "ca.crt": readFileSync(cluster.caFile, "utf8") },
  };
}
