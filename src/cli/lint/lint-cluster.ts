import { defaultNetworkAnnotation, networksAnnotation } from "../../base/annotations.ts";
import { kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";
import type { LintCluster, LintNetwork, LintNode, LintPlace, LintPod, LintSpot } from "../../lint/lint-objects.ts";
import { isKubeObject, listIn, textIn, valueIn, type KubeObject } from "../kube-object.ts";
import { TextPositions } from "./text-positions.ts";

/** What a cluster has of networks, and which lists it did not show. */
export interface ClusterReading {
  readonly networks: readonly LintNetwork[];
  readonly pods: readonly LintPod[];
  readonly cluster: LintCluster;
  readonly unseen: readonly string[];
}

const networksPath = "/apis/k8s.cni.cncf.io/v1";
const networkPlural = "network-attachment-definitions";
const pageItems = 500;
const deadlineMs = 30_000;

/** Reads all namespaces where the user may, because ranges of other namespaces count; else only the one. */
export async function readLintCluster(
  api: KubeApi,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<ClusterReading> {
  const reader = new ListReader(api, signal);
  const all = await reader.list(`${networksPath}/${networkPlural}`, "networks of all namespaces");
  const networks =
    all ??
    (namespace === undefined
      ? undefined
      : await reader.list(`${networksPath}/namespaces/${namespace}/${networkPlural}`, "networks"));
  const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
  const pods = await reader.list(`/api/v1${where}/pods`, "pods");
  const nodes = await reader.list("/api/v1/nodes", "nodes");
  const services = await reader.list("/apis/networking.k8s.io/v1/servicecidrs", "service ranges");
  return {
    networks: (networks ?? []).map(clusterNetwork),
    pods: (pods ?? []).flatMap(clusterPod),
    cluster: {
      podCidrs: (nodes ?? []).flatMap((node) => texts(valueIn(node, "spec", "podCIDRs"))),
      serviceCidrs: (services ?? []).flatMap((cidr) => texts(valueIn(cidr, "spec", "cidrs"))),
      nodes: (nodes ?? []).map(clusterNode),
      isolation: undefined,
      isComplete: all !== undefined,
    },
    unseen: reader.unseen,
  };
}

/** Lists page by page. What this user may not see, or the cluster lacks, is noted and left out. */
class ListReader {
  readonly unseen: string[] = [];
  readonly #api: KubeApi;
  readonly #signal: AbortSignal;

  constructor(api: KubeApi, signal: AbortSignal) {
    this.#api = api;
    this.#signal = signal;
  }

  async list(path: string, what: string): Promise<readonly KubeObject[] | undefined> {
    const items: KubeObject[] = [];
    let next = "";
    try {
      do {
        const query = `?limit=${pageItems}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`;
        const text = await this.#api.call({ method: "GET", path: `${path}${query}`, deadlineMs, signal: this.#signal });
        const page: unknown = JSON.parse(text);
        items.push(...listIn(page, "items").filter(isKubeObject));
        next = textIn(page, "metadata", "continue");
      } while (next !== "");
      return items;
    } catch (thrown) {
      const status = kubeStatusOf(thrown);
      if (status !== 403 && status !== 404) throw thrown;
      this.unseen.push(`${what} (${status === 403 ? "forbidden" : "not known to this API server"})`);
      return undefined;
    }
  }
}

export function clusterNetwork(object: KubeObject): LintNetwork {
  const config = textIn(object, "spec", "config");
  const positions = new TextPositions(config);
  return {
    ...namesOf(object, "NetworkAttachmentDefinition"),
    config: config.trim() === "" ? undefined : config,
    isConfigNoText: false,
    locate: (spot) => configPlace(positions, spot),
  };
}

/** There is no file: line and column are those in the text of spec.config, as `kubectl get -o jsonpath` prints it. */
function configPlace(positions: TextPositions, spot: LintSpot): LintPlace {
  const span = spot.on === "config" ? spot.span : { start: 0, end: 1 };
  const [start, end] = [positions.at(span.start), positions.at(span.end)];
  return { file: "", line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}

/** A pod that has ended needs no network any more. */
function clusterPod(object: KubeObject): readonly LintPod[] {
  const names = namesOf(object, "Pod");
  const asks = networksAnnotation in names.annotations || defaultNetworkAnnotation in names.annotations;
  if (!asks || ["Succeeded", "Failed"].includes(textIn(object, "status", "phase"))) return [];
  return [{ ...names, count: 1, locate: (spot) => configPlace(new TextPositions(""), spot) }];
}

function clusterNode(object: KubeObject): LintNode {
  const capacity = valueIn(object, "status", "capacity");
  return {
    name: textIn(object, "metadata", "name"),
    addresses: listIn(object, "status", "addresses").map((address) => textIn(address, "address")),
    resources: Object.keys(isKubeObject(capacity) ? capacity : {}),
    podsMax: podsMaxOf(textIn(object, "status", "allocatable", "pods")),
    isTainted: listIn(object, "spec", "taints").some((taint) => textIn(taint, "effect") !== "PreferNoSchedule"),
  };
}

function podsMaxOf(text: string): number | undefined {
  return /^\d{1,6}$/u.test(text) ? Number(text) : undefined;
}

function namesOf(object: KubeObject, kind: string): Omit<LintPod, "count" | "locate"> {
  const annotations = valueIn(object, "metadata", "annotations");
  const [namespace, name] = [textIn(object, "metadata", "namespace"), textIn(object, "metadata", "name")];
  return {
    title: `${kind} ${namespace}/${name}`,
    namespace,
    name,
    annotations: Object.fromEntries(
      Object.entries(isKubeObject(annotations) ? annotations : {}).map(([key, value]) => [key, String(value)]),
    ),
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
