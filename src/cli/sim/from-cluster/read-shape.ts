import { objectsOf } from "../../../guard/json-values.ts";
import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { metricsOf, type Metric } from "../../../wire/metric-lines.ts";
import { cniDaemonSet, isLeveeDaemon } from "../../cluster/cni-daemon-set.ts";
import { inLanes } from "../../cluster/in-lanes.ts";
import { nodeOf } from "../../cluster/project.ts";
import { see, seeList, seeText, valueOr, type Asking, type Seen } from "../../cluster/seen.ts";
import { CommandFailure, exitCode } from "../../failure.ts";
import { memoryBytes } from "../../../guard/facts/memory-quantity.ts";
import { parseCpu } from "../../storm/quantity.ts";

/** The pods of one node that need a network of their own. */
export interface NodeShape {
  readonly name: string;
  readonly pods: number;
  /** Networks besides the default one, of a usual pod there. */
  readonly networks: number;
  readonly critical: number;
}

/** What a run of the plugins has cost on this cluster. */
interface PluginCost {
  readonly cpuMs: number;
  readonly runs: number;
}

/** Everything of a cluster that decides how many pods at once it holds. */
export interface ClusterShape {
  readonly nodes: readonly NodeShape[];
  readonly limitBytes: number;
  readonly cpuMillis: number | undefined;
  readonly isLevee: boolean;
  /** Undefined when no daemon told of its plugins. */
  readonly plugins: PluginCost | undefined;
  /** What could not be read, in words. */
  readonly unseen: readonly string[];
}

/** A daemon without a limit may use this much; the node has more, but nobody would set it. */
const unlimitedBytes = 16 * 1024 ** 3;
const askMs = 10_000;
const criticalPriority = 2_000_000_000;
const networksKey = "k8s.v1.cni.cncf.io/networks";

/** Reads a cluster. It only lists and gets, and sends nothing anywhere. */
export async function readShape(asking: Asking, metricsPort: number): Promise<ClusterShape> {
  const nodes = required(await seeList(asking, "/api/v1/nodes", nodeOf), "nodes");
  const pods = required(await seeList(asking, "/api/v1/pods", podOf), "pods");
  const sets = await seeList(asking, "/apis/apps/v1/daemonsets", daemonOf);
  const daemons = valueOr(sets, []);
  const own = daemons.find(({ isLevee }) => isLevee) ?? daemons[0] ?? noDaemon;
  const names = nodes.filter(({ isLinux }) => isLinux).map(({ name }) => name);
  const plugins = own.isLevee ? await pluginCost(asking, names, metricsPort) : undefined;
  return {
    nodes: names.map((name) => nodeShape(name, pods)),
    limitBytes: own.limitBytes ?? unlimitedBytes,
    cpuMillis: own.cpuMillis,
    isLevee: own.isLevee,
    plugins,
    unseen: unseenOf(sets, own, plugins),
  };
}

const noDaemon: DaemonShape = { isLevee: false, limitBytes: undefined, cpuMillis: undefined };

function unseenOf(sets: Seen<unknown>, own: DaemonShape, plugins: PluginCost | undefined): readonly string[] {
  if (!("value" in sets)) return [`DaemonSets: ${sets.why}`];
  if (own === noDaemon) return ["neither Levee nor Multus is installed; no limit is known"];
  return own.isLevee && plugins === undefined ? ["no daemon told what its plugins cost"] : [];
}

interface PodShape {
  readonly node: string;
  readonly networks: number;
  readonly isCritical: boolean;
}

/** Undefined for a pod that needs no network of its own, or none any more. */
function podOf(item: unknown): PodShape | undefined {
  const { metadata, spec, status } = objectOf(item);
  const { nodeName, hostNetwork, priority } = objectOf(spec);
  const phase = textOf(objectOf(status)["phase"]);
  const node = textOf(nodeName);
  if (node === "" || hostNetwork === true || phase === "Succeeded" || phase === "Failed") return undefined;
  const wanted = textOf(objectOf(objectOf(metadata)["annotations"])[networksKey]);
  return {
    node,
    networks: countNetworks(wanted),
    isCritical: typeof priority === "number" && priority >= criticalPriority,
  };
}

/** As a list with commas, or as JSON. */
function countNetworks(text: string): number {
  if (text.trim() === "") return 0;
  if (!text.trim().startsWith("[")) return text.split(",").filter((name) => name.trim() !== "").length;
  try {
    return objectsOf(JSON.parse(text)).length;
  } catch (thrown) {
    // A pod with such an annotation is never attached to anything else.
    if (thrown instanceof SyntaxError) return 0;
    throw thrown;
  }
}

function nodeShape(name: string, pods: readonly PodShape[]): NodeShape {
  const mine = pods.filter(({ node }) => node === name);
  const networks = mine.reduce((sum, pod) => sum + pod.networks, 0);
  return {
    name,
    pods: mine.length,
    networks: mine.length === 0 ? 0 : Math.round(networks / mine.length),
    critical: mine.filter(({ isCritical }) => isCritical).length,
  };
}

interface DaemonShape {
  readonly isLevee: boolean;
  readonly limitBytes: number | undefined;
  readonly cpuMillis: number | undefined;
}

function daemonOf(item: unknown): DaemonShape | undefined {
  const found = cniDaemonSet(item, []);
  if (found === undefined || (found.part !== "daemon" && found.part !== "multus")) return undefined;
  const template = objectOf(objectOf(objectOf(item)["spec"])["template"]);
  const containers = objectsOf(objectOf(template["spec"])["containers"]);
  const limits = containers
    .map(({ resources }) => objectOf(objectOf(resources)["limits"]))
    .find(({ memory }) => memory);
  const { memory, cpu } = limits ?? {};
  return {
    isLevee: isLeveeDaemon(found),
    limitBytes: memory === undefined ? undefined : memoryBytes(textOf(memory)),
    cpuMillis: cpu === undefined ? undefined : parseCpu("the CPU limit of the daemon", textOf(cpu)),
  };
}

/** From the daemons' own metrics, through the API server. */
async function pluginCost(asking: Asking, nodes: readonly string[], port: number): Promise<PluginCost | undefined> {
  const asked = await inLanes(nodes, (node) =>
    see(asking, async () =>
      metricsOf(await seeText(asking, `/api/v1/nodes/http:${encodeURIComponent(node)}:${port}/proxy/metrics`, askMs)),
    ),
  );
  const metrics = [...asked.values()].flatMap((seen): readonly Metric[] => ("value" in seen ? seen.value : []));
  const adds = metrics.filter(({ labels }) => labels["verb"] === "ADD");
  const sum = (name: string): number =>
    adds.filter((metric) => metric.name === name).reduce((total, { value }) => total + value, 0);
  const [seconds, runs] = [sum("levee_delegate_cpu_seconds_total"), sum("levee_delegate_seconds_count")];
  return runs > 0 && seconds > 0 ? { cpuMs: (1_000 * seconds) / runs, runs } : undefined;
}

function required<T>(seen: Seen<T>, what: string): T {
  if ("value" in seen) return seen.value;
  throw new CommandFailure("cluster-unseen", `Cannot read the ${what} of the cluster: ${seen.why}`, {
    remedy: "a user who may list nodes, pods and daemonsets",
    exitCode: exitCode.unreachable,
  });
}
