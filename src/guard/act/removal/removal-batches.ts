import type { PodTarget } from "../../decision/step.ts";

/** Across all nodes; what is asked of the API server between two looks at the cluster. */
const batchMax = 100;

/**
 * Targets in batches that are carried out one after the other: of each node at most `perNode`, as each removal is a CNI
 * DEL there. Every target is in exactly one, in the plan's order within its node.
 */
export function removalBatches(targets: readonly PodTarget[], perNode: number): readonly (readonly PodTarget[])[] {
  if (!Number.isSafeInteger(perNode) || perNode < 1)
    throw new RangeError(`A batch has at least one pod, not ${perNode}`);
  const batches: PodTarget[][] = [];
  const counts: Map<string, number>[] = [];
  for (const target of targets) {
    const node = target.node ?? "";
    let at = counts.findIndex(
      (count, index) => (count.get(node) ?? 0) < perNode && (batches[index]?.length ?? 0) < batchMax,
    );
    if (at === -1) at = batches.push([]) - 1;
    const count = (counts[at] ??= new Map<string, number>());
    batches[at]?.push(target);
    count.set(node, (count.get(node) ?? 0) + 1);
  }
  return batches;
}
