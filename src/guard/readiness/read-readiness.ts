import { uplinkAnnotation, uplinkVlanAnnotation } from "../../base/annotations.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import { isObject, type JsonObject } from "../../kube/client/json-fields.ts";
import { definitionMark } from "../../wire/network-question.ts";
import { objectsOf } from "../json-values.ts";
import { parseReadiness, readinessPath, type ReadinessObject } from "./readiness-object.ts";

const requestMs = 10_000;
/** A sweep asks the API server for each one's network. Further objects get no status, and so are not ready. */
const objectsMax = 200;

/** The first objects of the cluster. None where their definition is missing. */
export async function listReadiness(api: KubeApi, signal: AbortSignal): Promise<readonly ReadinessObject[]> {
  const path = `${readinessPath}?limit=${objectsMax}`;
  const list = await getOrNothing(api, path, signal);
  return objectsOf(list?.["items"]).flatMap((item) => parseReadiness(item) ?? []);
}

/** The mark of the network's definition as it is now; undefined when there is none. */
export async function markOfNetwork(
  api: KubeApi,
  { namespace, network }: Pick<ReadinessObject, "namespace" | "network">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const group = "/apis/k8s.cni.cncf.io/v1";
  const path = `${group}/namespaces/${encodeURIComponent(namespace)}/network-attachment-definitions/${encodeURIComponent(network)}`;
  const definition = await getOrNothing(api, path, signal);
  if (definition === undefined) return undefined;
  const spec = isObject(definition["spec"]) ? definition["spec"] : {};
  const metadata = isObject(definition["metadata"]) ? definition["metadata"] : {};
  const annotations = isObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const said = [uplinkAnnotation, uplinkVlanAnnotation].map((name) => textOf(annotations[name]));
  return definitionMark(textOf(spec["config"]), said);
}

/** The names of the nodes with these labels; undefined when all count. */
export async function labelledNodes(
  api: KubeApi,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  if (wanted.length === 0) return undefined;
  const path = `/api/v1/nodes?labelSelector=${encodeURIComponent(wanted.join(","))}&resourceVersion=0`;
  const accept = metadataOnly.replaceAll("PartialObjectMetadata", "PartialObjectMetadataList");
  const list: unknown = JSON.parse(await api.call({ method: "GET", path, accept, deadlineMs: requestMs, signal }));
  const names = objectsOf(isObject(list) ? list["items"] : []).map(({ metadata }) =>
    isObject(metadata) ? textOf(metadata["name"]) : undefined,
  );
  return new Set(names.flatMap((name) => name ?? []));
}

async function getOrNothing(api: KubeApi, path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  try {
    const value: unknown = JSON.parse(await api.call({ method: "GET", path, deadlineMs: requestMs, signal }));
    return isObject(value) ? value : undefined;
  } catch (thrown) {
    if (kubeStatusOf(thrown) === 404) return undefined;
    throw thrown;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
