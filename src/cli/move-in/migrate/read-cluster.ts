import { kubeStatusOf, type KubeApi } from "../../../kube/client/api.ts";
import { findMultus } from "./find-multus.ts";
import { isKubeObject, listIn, textIn, type KubeObject } from "../../kube-object.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "../../../base/annotations.ts";

/** Items of a list have no kind. */
const lists = [
  { path: "/apis/apps/v1/daemonsets", kind: "DaemonSet" },
  { path: "/apis/apps/v1/deployments", kind: "Deployment" },
  { path: "/apis/apps/v1/statefulsets", kind: "StatefulSet" },
  { path: "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions", kind: "NetworkAttachmentDefinition" },
  { path: "/api/v1/pods", kind: "Pod" },
] as const;

/** With about 20 KiB per item, a page stays below the client's limit. */
const pageItems = 200;
const deadlineMs = 30_000;

/** Reads the objects of the check from the API server. Pods without additional networks are dropped page by page. */
export async function readCluster(api: KubeApi, signal: AbortSignal): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const list of lists) {
    for await (const object of itemsOf(api, list, signal)) if (isOfInterest(object)) objects.push(object);
  }
  return [...objects, ...(await configMaps(api, objects, signal))];
}

async function* itemsOf(api: KubeApi, list: (typeof lists)[number], signal: AbortSignal): AsyncGenerator<KubeObject> {
  let next = "";
  do {
    const query = `?limit=${pageItems}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`;
    const page = await read(api, `${list.path}${query}`, signal);
    for (const item of listIn(page, "items")) if (isKubeObject(item)) yield { ...item, kind: list.kind };
    next = textIn(page, "metadata", "continue");
  } while (next !== "");
}

/** A pod matters only if its own annotations name networks. */
function isOfInterest(object: KubeObject): boolean {
  if (textIn(object, "kind") !== "Pod") return true;
  const annotations = Object.keys(isKubeObject(object["metadata"]) ? (object["metadata"]["annotations"] ?? {}) : {});
  return annotations.some((key) => key === networksAnnotation || key === defaultNetworkAnnotation);
}

async function configMaps(
  api: KubeApi,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const { config } of findMultus(objects)) {
    if (config === undefined) continue;
    const map = await read(api, `/api/v1/namespaces/${config.namespace}/configmaps/${config.name}`, signal);
    if (isKubeObject(map)) found.push({ ...map, kind: "ConfigMap" });
  }
  return found;
}

/** Undefined for 404: the cluster lacks the kind, or the ConfigMap is gone. */
async function read(api: KubeApi, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    return JSON.parse(await api.call({ method: "GET", path, deadlineMs, signal })) as unknown; // read by path only
  } catch (thrown) {
    if (kubeStatusOf(thrown) === 404) return undefined;
    throw thrown;
  }
}
