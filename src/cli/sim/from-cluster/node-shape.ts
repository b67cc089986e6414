import type { Namespace } from "../../../base/brand.ts";
import { networksAnnotation } from "../../../base/annotations.ts";
import { LeveeError } from "../../../base/errors.ts";
import { networkNameOf, parseSelection } from "../../../attachment/selection.ts";
import { objectsOf } from "../../../guard/json-values.ts";
import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import { nodeOf } from "../../cluster/project.ts";
import { cpuMillisOf } from "./cpu-quantity.ts";
import type { DaemonNode, CniDaemonShape } from "./node-daemons.ts";
import {
  chainCost,
  defaultChainCost,
  sumOfCosts,
  type NetworkPlugins,
  type PluginCosts,
  type RunCost,
} from "./plugin-costs.ts";

/** A node, and those of its pods that need a network of their own. */
export interface NodeShape {
  readonly name: string;
  readonly pods: number;
  /** For each of these pods, how many networks it has besides the default one. */
  readonly networksMix: readonly number[];
  readonly critical: number;
  /** Undefined when its kubelet has not told. */
  readonly cores: number | undefined;
  readonly daemon: CniDaemonShape;
  /** What one network of one pod costs there on average; undefined when no daemon told. */
  readonly chain: RunCost | undefined;
}

export interface SeenNode extends DaemonNode {
  readonly cores: number | undefined;
}

/** Undefined for a node without Linux. */
export function seenNode(item: unknown): SeenNode | undefined {
  const found = nodeOf(item);
  if (found === undefined || !found.isLinux) return undefined;
  const { capacity, allocatable } = objectOf(objectOf(item)["status"]);
  // The daemon and the plugins are no pods with a share of what is allocatable: they use what the machine has.
  const millis = cpuMillisOf(objectOf(capacity)["cpu"]) ?? cpuMillisOf(objectOf(allocatable)["cpu"]);
  return {
    name: found.name,
    labels: objectOf(objectOf(objectOf(item)["metadata"])["labels"]),
    cores: millis === undefined ? undefined : millis / 1_000,
  };
}

/** A pod on a node. */
export interface SeenPod {
  readonly node: string;
  /** `namespace/name` of the DaemonSet that made it. */
  readonly daemonSet: string | undefined;
  /** Undefined for a pod on the host's network, and for one that has ended. */
  readonly wish: PodNeeds | undefined;
}

interface PodNeeds {
  readonly networks: readonly string[];
  readonly isCritical: boolean;
}

const criticalPriority = 2_000_000_000;

/** Undefined for a pod without a node. */
export function seenPod(item: unknown): SeenPod | undefined {
  const { metadata, spec, status } = objectOf(item);
  const node = textOf(objectOf(spec)["nodeName"]);
  const phase = textOf(objectOf(status)["phase"]);
  if (node === "" || phase === "Succeeded" || phase === "Failed") return undefined;
  const { namespace, ownerReferences, annotations } = objectOf(metadata);
  const owner = objectsOf(ownerReferences).find(({ kind }) => kind === "DaemonSet");
  return {
    node,
    daemonSet: owner === undefined ? undefined : `${textOf(namespace)}/${textOf(owner["name"])}`,
    wish: needsOf(objectOf(spec), textOf(namespace), textOf(objectOf(annotations)[networksAnnotation])),
  };
}

function needsOf({ hostNetwork, priority }: JsonObject, namespace: string, annotation: string): PodNeeds | undefined {
  if (hostNetwork === true) return undefined;
  return {
    networks: networksOf(annotation, namespace as Namespace),
    isCritical: typeof priority === "number" && priority >= criticalPriority,
  };
}

/** By the daemon's own code. A pod whose annotation it refuses is never attached to anything else. */
function networksOf(annotation: string, namespace: Namespace): readonly string[] {
  try {
    return parseSelection(annotation, namespace).map(networkNameOf);
  } catch (thrown) {
    if (thrown instanceof LeveeError) return [];
    throw thrown;
  }
}

interface NodeFacts {
  readonly pods: readonly SeenPod[];
  readonly daemon: CniDaemonShape;
  readonly networks: NetworkPlugins;
  readonly costs: PluginCosts | undefined;
}

export function nodeShape({ name, cores }: SeenNode, { pods, daemon, networks, costs }: NodeFacts): NodeShape {
  const wishes = pods.flatMap(({ wish }) => wish ?? []);
  return {
    name,
    pods: wishes.length,
    networksMix: wishes.map((wish) => wish.networks.length),
    critical: wishes.filter(({ isCritical }) => isCritical).length,
    cores,
    daemon,
    chain: costs === undefined ? undefined : meanChain(wishes, networks, costs),
  };
}

/** Of all chains of the node's pods, each with its default network. */
function meanChain(wishes: readonly PodNeeds[], networks: NetworkPlugins, costs: PluginCosts): RunCost {
  const byDefault = defaultChainCost(networks, costs);
  const chains = wishes.flatMap((wish) => [
    byDefault,
    ...wish.networks.map((network) => chainCost(networks.get(network), costs)),
  ]);
  if (chains.length === 0) return byDefault;
  const { cpuMs, waitMs } = sumOfCosts(chains);
  return { cpuMs: cpuMs / chains.length, waitMs: waitMs / chains.length };
}
