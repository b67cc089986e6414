import type { World } from "../../facts/world.ts";
import type { StepContext } from "../step-runner.ts";

/** A daemon handles this many calls within a second or two. */
const waitingFine = 20;
/** After this time only removals help an overloaded daemon, not waiting. */
const calmWithinMs = 60_000;
const lookMs = 1_000;
/** A daemon without a newer answer may be dead, and the removal does not wait for it. */
const freshMs = 15_000;

/** Waiting calls per node when the removal began: more than that is our own doing. */
export type LoadBefore = ReadonlyMap<string, number>;

export function loadNow({ nodeViews }: World): LoadBefore {
  return new Map(nodeViews.map(({ node, waiting }) => [node, waiting]));
}

/**
 * Waits a limited time until the daemons of these nodes have worked off their calls. Nodes with a silent daemon are paced
 * by another rule: the pods of one batch must be gone before the next batch.
 */
export async function untilCalm(
  { clock, signal, world, logger }: StepContext,
  nodes: ReadonlySet<string>,
  before: LoadBefore,
): Promise<void> {
  const endMs = clock.monotonicMs() + calmWithinMs;
  for (;;) {
    const { nodeViews, nowMs } = world();
    const busy = nodeViews.filter(
      ({ node, waiting, atMs }) =>
        nodes.has(node) && nowMs - atMs < freshMs && waiting > Math.max(waitingFine, before.get(node) ?? 0),
    );
    if (busy.length === 0) return;
    if (clock.monotonicMs() >= endMs) {
      const [worst] = busy.toSorted((left, right) => right.waiting - left.waiting);
      logger.warn("Daemons do not calm down between batches; going on", { node: worst?.node, waiting: worst?.waiting });
      return;
    }
    await clock.sleep(lookMs, signal);
  }
}
