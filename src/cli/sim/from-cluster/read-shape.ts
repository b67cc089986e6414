import { readNetwork } from "../../../lint/read-network.ts";
import { metricsOf, type Metric } from "../../../wire/metric-lines.ts";
import { inLanes } from "../../cluster/in-lanes.ts";
import { see, seeList, seeText, valueOr, type Asking, type Seen } from "../../cluster/seen.ts";
import { CommandFailure, exitCode } from "../../failure.ts";
import { isKubeObject } from "../../kube-object.ts";
import { clusterNetwork } from "../../lint/lint-cluster.ts";
import { daemonOfNode, daemonSetShape, noDaemon, type DaemonSetShape } from "./node-daemons.ts";
import { nodeShape, seenNode, seenPod, type NodeShape, type SeenNode, type SeenPod } from "./node-shape.ts";
import { pluginCosts, type NetworkPlugins, type PluginCosts } from "./plugin-costs.ts";

/** Everything of a cluster that decides how many pods at once it holds. */
export interface ClusterShape {
  readonly nodes: readonly NodeShape[];
  /** Undefined when no daemon told of its plugins. */
  readonly plugins: PluginCosts | undefined;
  /** What could not be read, in words. */
  readonly unseen: readonly string[];
}

const askMs = 10_000;
const networksPath = "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions";

/** Reads a cluster. It only lists and gets, and sends nothing anywhere. */
export async function readShape(asking: Asking, metricsPort: number): Promise<ClusterShape> {
  const nodes = required(await seeList(asking, "/api/v1/nodes", seenNode), "nodes");
  const pods = podsByNode(required(await seeList(asking, "/api/v1/pods", seenPod), "pods"));
  const sets = await seeList(asking, "/apis/apps/v1/daemonsets", daemonSetShape);
  const definitions = await seeList(asking, networksPath, pluginsOfNetwork);
  const networks: NetworkPlugins = new Map(valueOr(definitions, []));
  const daemons = new Map(
    nodes.map((node) => [node.name, daemonOfNode(node, valueOr(sets, []), setsOn(pods.get(node.name)))]),
  );
  const withLevee = nodes.flatMap(({ name }) => (daemons.get(name)?.impl === "levee" ? [name] : []));
  const { plugins, silent } = await askDaemons(asking, withLevee, metricsPort);
  return {
    nodes: nodes.map((node) =>
      nodeShape(node, {
        pods: pods.get(node.name) ?? [],
        daemon: daemons.get(node.name) ?? noDaemon,
        networks,
        costs: plugins,
      }),
    ),
    plugins,
    unseen: [
      ...unseenDaemons(sets, nodes, daemons),
      ...("value" in definitions ? [] : [`network definitions: ${definitions.why}`]),
      ...unseenCosts(withLevee, plugins, silent),
      ...unseenCores(nodes),
    ],
  };
}

function podsByNode(pods: readonly SeenPod[]): ReadonlyMap<string, readonly SeenPod[]> {
  return Map.groupBy(pods, ({ node }) => node);
}

function setsOn(pods: readonly SeenPod[] = []): ReadonlySet<string> {
  return new Set(pods.flatMap(({ daemonSet }) => daemonSet ?? []));
}

/** A network whose configuration is a file on the nodes has no plugins that could be read. */
function pluginsOfNetwork(item: unknown): readonly [string, readonly string[]] | undefined {
  if (!isKubeObject(item)) return undefined;
  const network = clusterNetwork(item);
  const read = readNetwork(network);
  const plugins = "code" in read ? [] : read.plugins.map(({ type }) => type);
  return [`${network.namespace}/${network.name}`, plugins];
}

/** From the daemons' own metrics, through the API server. `silent` is how many of them did not tell. */
async function askDaemons(
  asking: Asking,
  nodes: readonly string[],
  port: number,
): Promise<{ readonly plugins: PluginCosts | undefined; readonly silent: number }> {
  const asked = await inLanes(nodes, (node) =>
    see(asking, async () =>
      metricsOf(await seeText(asking, `/api/v1/nodes/http:${encodeURIComponent(node)}:${port}/proxy/metrics`, askMs)),
    ),
  );
  const told = [...asked.values()].flatMap((seen): readonly (readonly Metric[])[] =>
    "value" in seen ? [seen.value] : [],
  );
  return { plugins: pluginCosts(told.flat()), silent: nodes.length - told.length };
}

function unseenDaemons(
  sets: Seen<readonly DaemonSetShape[]>,
  nodes: readonly SeenNode[],
  daemons: ReadonlyMap<string, unknown>,
): readonly string[] {
  if (!("value" in sets)) return [`DaemonSets: ${sets.why}`];
  if (sets.value.length === 0) return ["neither Levee nor Multus is installed; no limit is known"];
  const without = nodes.filter(({ name }) => daemons.get(name) === undefined);
  if (without.length === 0) return [];
  return [`the daemon of ${namesText(without)}: no DaemonSet of Levee or Multus is for it; no limit is known`];
}

function unseenCosts(
  withLevee: readonly string[],
  plugins: PluginCosts | undefined,
  silent: number,
): readonly string[] {
  if (withLevee.length === 0) return [];
  if (plugins === undefined && silent < withLevee.length) return ["what plugins cost: no daemon has run one yet"];
  if (plugins === undefined) return ["what plugins cost: no daemon told"];
  return silent === 0
    ? []
    : [`what plugins cost on ${silent} of ${withLevee.length} nodes: their daemons did not tell`];
}

function unseenCores(nodes: readonly SeenNode[]): readonly string[] {
  const without = nodes.filter(({ cores }) => cores === undefined);
  return without.length === 0 ? [] : [`the cores of ${namesText(without)}: as in the model`];
}

function namesText(nodes: readonly SeenNode[]): string {
  const [first] = nodes;
  if (first === undefined) return "none";
  return nodes.length === 1 ? first.name : `${first.name} and ${nodes.length - 1} more`;
}

function required<T>(seen: Seen<T>, what: string): T {
  if ("value" in seen) return seen.value;
  throw new CommandFailure("cluster-unseen", `Cannot read the ${what} of the cluster: ${seen.why}`, {
    remedy: "a user who may list nodes, pods and daemonsets",
    exitCode: exitCode.unreachable,
  });
}
