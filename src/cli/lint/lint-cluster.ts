import { defaultNetworkAnnotation, networksAnnotation } from "../../base/annotations.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import { projectSlice, slicesPath } from "../../kube/claims/slice-facts.ts";
import { kubeStatusOf, type FollowableApi } from "../../kube/client/api.ts";
import { objectOf } from "../../kube/client/json-fields.ts";
import { parseListed } from "../../kube/watch/list-pages.ts";
import { claimsOf } from "../../kube/watch/project-claims.ts";
import type {
  LintCluster,
  LintNetwork,
  LintNode,
  LintObject,
  LintPlace,
  LintPod,
  LintSpot,
} from "../../lint/lint-objects.ts";
import { lackedResource } from "../../lint/rules/resource-rule.ts";
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

export interface ClusterScope {
  /** Undefined for all. */
  readonly namespace: string | undefined;
  /** Networks of files that are to be looked at instead of the cluster's. */
  readonly files: readonly LintNetwork[] | undefined;
}

/** Reads all namespaces where the user may, because ranges of other namespaces count; else only the one. */
export async function readLintCluster(
  api: FollowableApi,
  scope: ClusterScope,
  signal: AbortSignal,
): Promise<ClusterReading> {
  const { namespace } = scope;
  const reader = new ListReader(api, signal);
  const all = await reader.list(`${networksPath}/${networkPlural}`, "networks of all namespaces");
  const objects =
    all ??
    (namespace === undefined
      ? undefined
      : await reader.list(`${networksPath}/namespaces/${namespace}/${networkPlural}`, "networks"));
  const networks = (objects ?? []).map(clusterNetwork);
  const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
  const pods = await reader.list(`/api/v1${where}/pods`, "pods");
  const nodeObjects = (await reader.list("/api/v1/nodes", "nodes")) ?? [];
  const nodes = nodeObjects.map(clusterNode);
  const services = await reader.list("/apis/networking.k8s.io/v1/servicecidrs", "service ranges");
  return {
    networks,
    pods: (pods ?? []).flatMap(clusterPod),
    cluster: {
      podCidrs: nodeObjects.flatMap((node) => texts(valueIn(node, "spec", "podCIDRs"))),
      serviceCidrs: (services ?? []).flatMap((cidr) => texts(valueIn(cidr, "spec", "cidrs"))),
      nodes,
      publishedResources: await reader.publishedOf(lackedResources(scope, networks, nodes)),
      claimNames: namespace === undefined && pods !== undefined ? new Set(pods.flatMap(claimNamesOf)) : undefined,
      isolation: undefined,
      isComplete: all !== undefined,
    },
    unseen: reader.unseen,
  };
}

/** Of the networks that are looked at, those that no node offers. */
function lackedResources(
  { namespace, files }: ClusterScope,
  networks: readonly LintNetwork[],
  nodes: readonly LintNode[],
): readonly string[] {
  const isAsked = (network: LintNetwork): boolean => namespace === undefined || network.namespace === namespace;
  return (files ?? networks.filter(isAsked)).flatMap((network) => lackedResource(network, nodes) ?? []);
}

/** Lists page by page. What this user may not see, or the cluster lacks, is noted and left out. */
class ListReader {
  readonly unseen: string[] = [];
  readonly #api: FollowableApi;
  readonly #signal: AbortSignal;

  constructor(api: FollowableApi, signal: AbortSignal) {
    this.#api = api;
    this.#signal = signal;
  }

  list(path: string, what: string): Promise<readonly KubeObject[] | undefined> {
    return this.#seen(what, async () => {
      const items: KubeObject[] = [];
      let next = "";
      do {
        const query = `?limit=${pageItems}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`;
        const text = await this.#api.call({ method: "GET", path: `${path}${query}`, deadlineMs, signal: this.#signal });
        const page: unknown = JSON.parse(text);
        items.push(...listIn(page, "items").filter(isKubeObject));
        next = textIn(page, "metadata", "continue");
      } while (next !== "");
      return items;
    });
  }

  /**
   * Those of the resources that a device in some ResourceSlice has. There may be thousands of slices with up to 400 KB
   * each, so they are read one at a time, and only if there is something to look for.
   */
  async publishedOf(resources: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const found = new Set<string>();
    if (resources.length === 0) return found;
    const asked = new Set(resources);
    return await this.#seen("ResourceSlices", async () => {
      const texts = new SharedTexts();
      await this.#api.items(slicesPath, { signal: this.#signal, idleMs: deadlineMs }, (text) => {
        const devices = projectSlice(parseListed(slicesPath, text), texts)?.devices.values() ?? [];
        for (const { resourceName } of devices) if (asked.has(resourceName)) found.add(resourceName);
      });
      return found;
    });
  }

  async #seen<T>(what: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
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
  return [
    {
      ...names,
      count: 1,
      claimNames: claimNamesOf(object),
      locate: (spot) => configPlace(new TextPositions(""), spot),
    },
  ];
}

/** Also those that were made from a template. */
function claimNamesOf(pod: KubeObject): readonly string[] {
  const { claims } = claimsOf(objectOf(pod["spec"]), objectOf(pod["status"]), new SharedTexts());
  return (claims?.refs ?? []).map(({ claim }) => claim);
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

function namesOf(object: KubeObject, kind: string): Omit<LintObject, "locate"> {
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
