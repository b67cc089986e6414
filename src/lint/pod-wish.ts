import { defaultNetworkAnnotation, networksAnnotation } from "../base/annotations.ts";
import type { Namespace } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { defaultNetworkOf, networkNameOf, parseSelection, type SelectionElement } from "../attachment/selection.ts";
import type { LintNode, LintPod } from "./lint-objects.ts";

/** What a pod asks for, by the daemon's own code. */
export interface PodWish {
  readonly pod: LintPod;
  readonly networks: readonly SelectionElement[];
  /** `namespace/name` of the network that it wants as its default. */
  readonly defaultNetwork: string | undefined;
}

/** The namespace of a default network that names none; it is Multus' own unless a site sets another. */
const multusNamespace = "kube-system" as Namespace;

/** The wish, or the words with which the daemon would refuse the annotation. */
export function podWish(pod: LintPod): PodWish | string {
  const wish = readWish(pod);
  return typeof wish === "string" ? wish : { pod, ...wish };
}

function readWish(pod: Pick<LintPod, "namespace" | "annotations">): Omit<PodWish, "pod"> | string {
  try {
    const networks = parseSelection(pod.annotations[networksAnnotation] ?? "", pod.namespace as Namespace);
    const primary = defaultNetworkOf(pod.annotations, multusNamespace);
    return { networks, defaultNetwork: primary === undefined ? undefined : networkNameOf(primary) };
  } catch (thrown) {
    if (!(thrown instanceof LeveeError)) throw thrown;
    return pod.annotations[defaultNetworkAnnotation] === ""
      ? `its annotation ${defaultNetworkAnnotation} is empty`
      : thrown.message;
  }
}

/** `namespace/name` of every network that a pod names; none if the daemon would refuse its annotation. */
export function networksNamedBy(pod: Pick<LintPod, "namespace" | "annotations">): readonly string[] {
  const wish = readWish(pod);
  if (typeof wish === "string") return [];
  const { networks, defaultNetwork } = wish;
  return [...new Set([...networks.map(networkNameOf), ...(defaultNetwork === undefined ? [] : [defaultNetwork])])];
}

/** How many pods ask for each network, as far as it is known. */
export function askedFor(wishes: readonly PodWish[], nodes: readonly LintNode[]): ReadonlyMap<string, number> {
  // A DaemonSet may tolerate taints, so it has at least a pod on each node without one.
  const nodesSurely = nodes.filter(({ isTainted }) => !isTainted).length;
  const counts = new Map<string, number>();
  for (const { pod, networks } of wishes) {
    const pods = pod.count === "per-node" ? nodesSurely : (pod.count ?? 0);
    for (const element of networks) {
      const name = networkNameOf(element);
      counts.set(name, (counts.get(name) ?? 0) + pods);
    }
  }
  return counts;
}
