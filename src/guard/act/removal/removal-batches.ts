import type { PodTarget } from "../../decision/step.ts";

/** Across all nodes: the requests between two looks at the cluster. */
const batchMax = 100;

/**
 * Splits the targets into consecutive batches with at most `perNode` per node, because each removal is a CNI DEL there.
 * Within a node the plan's order stays.
 */
export function removalBatches(targets: readonly PodTarget[], perNode: number): readonly (readonly PodTarget[])[] {
  if (!Number.isSafeInteger(perNode) || perNode < 1)
    throw new RangeError(`Cannot make batches of ${perNode} pods per node: at least one is needed`);
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
