import { objectsOf } from "../../../guard/json-values.ts";
import { memoryBytes } from "../../../guard/facts/memory-quantity.ts";
import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import type { Implementation } from "../../../sim/storm/sim-storm-plan.ts";
import { cniDaemonSet, isLeveeDaemon } from "../../cluster/cni-daemon-set.ts";
import { cpuMillisOf } from "./cpu-quantity.ts";

/** What attaches the pods of a node, and what it may use. */
export interface CniDaemonShape {
  readonly impl: Implementation;
  /** Of the largest amount that anybody sets where there is no limit. */
  readonly limitBytes: number;
  readonly cpuMillis: number | undefined;
}

/** A DaemonSet that is Levee or Multus. There may be several, such as one per architecture, or both during a move. */
export interface DaemonSetShape extends CniDaemonShape {
  /** `namespace/name` */
  readonly name: string;
  readonly nodeSelector: JsonObject;
}

export interface DaemonNode {
  readonly name: string;
  readonly labels: JsonObject;
}

/** A daemon without a limit may use this much; the node has more, but nobody would set it. */
const unlimitedBytes = 16 * 1024 ** 3;

/** Undefined for a DaemonSet that is neither. */
export function daemonSetShape(item: unknown): DaemonSetShape | undefined {
  const found = cniDaemonSet(item, []);
  if (found === undefined || (found.part !== "daemon" && found.part !== "multus")) return undefined;
  const pod = objectOf(objectOf(objectOf(objectOf(item)["spec"])["template"])["spec"]);
  const containers = objectsOf(pod["containers"]);
  const limits = containers
    .map(({ resources }) => objectOf(objectOf(resources)["limits"]))
    .find(({ memory }) => memory !== undefined);
  return {
    name: `${found.namespace}/${found.name}`,
    impl: isLeveeDaemon(found) ? "levee" : multusOf(containers),
    limitBytes: memoryBytes(textOf(limits?.["memory"])) ?? unlimitedBytes,
    cpuMillis: cpuMillisOf(limits?.["cpu"]),
    nodeSelector: objectOf(pod["nodeSelector"]),
  };
}

/**
 * The daemon that a node has: the one whose pod is there, else one that would be put there. Levee wins over Multus, because
 * it is the one that the runtime asks; of two of a kind, the one with less memory is the one that breaks.
 */
export function daemonOfNode(
  node: DaemonNode,
  sets: readonly DaemonSetShape[],
  running: ReadonlySet<string>,
): CniDaemonShape | undefined {
  const there = sets.filter(({ name }) => running.has(name));
  const fitting = there.length > 0 ? there : sets.filter(({ nodeSelector }) => fits(nodeSelector, node.labels));
  const rank = ({ impl }: CniDaemonShape): number => (impl === "levee" ? 0 : 1);
  const [best] = fitting.toSorted(
    (one, other) => rank(one) - rank(other) || one.limitBytes - other.limitBytes || (one.name < other.name ? -1 : 1),
  );
  if (best === undefined) return undefined;
  const { impl, limitBytes, cpuMillis } = best;
  return { impl, limitBytes, cpuMillis };
}

/** A cluster with neither Levee nor Multus is looked at as if Multus came without a limit. */
export const noDaemon: CniDaemonShape = { impl: "multus-4.2.2", limitBytes: unlimitedBytes, cpuMillis: undefined };

function fits(selector: JsonObject, labels: JsonObject): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** By the tag of its image: 4.3.0 and later serve requests in another way. */
function multusOf(containers: readonly JsonObject[]): Implementation {
  const images = containers.map(({ image }) => textOf(image));
  return images.some((image) => /multus[^/]*:v?4\.(?:[3-9]|\d\d)/u.test(image)) ? "multus-4.3.0" : "multus-4.2.2";
}
