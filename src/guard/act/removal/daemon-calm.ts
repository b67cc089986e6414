import type { World } from "../../facts/world.ts";
import type { StepContext } from "../step-runner.ts";

/** A daemon works through so many calls within a second or two. */
const waitingFine = 20;
/** A daemon that is no better after this long is made better by removals, not by waiting. */
const calmWithinMs = 60_000;
const lookMs = 1_000;
/** One that has said nothing for longer may be dead, and is not waited for. */
const freshMs = 15_000;

/** How many calls waited on each node when the removal began: more than that is our own doing. */
export type LoadBefore = ReadonlyMap<string, number>;

export function loadNow({ nodeViews }: World): LoadBefore {
  return new Map(nodeViews.map(({ node, waiting }) => [node, waiting]));
}

/**
 * Waits until the daemons of these nodes have worked through what was asked of them, or for a while. Nodes whose daemon
 * says nothing are not waited for here; that the pods of one batch are gone before the next paces those.
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
      logger.warn("daemons do not calm down between batches; going on", { node: worst?.node, waiting: worst?.waiting });
      return;
    }
    await clock.sleep(lookMs, signal);
  }
}
