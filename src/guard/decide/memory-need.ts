import { isStuck } from "../detect/avalanche.ts";
import { memoryText } from "../facts/memory-quantity.ts";
import type { NodeViewFacts, World } from "../facts/world.ts";

const mebibyte = 2 ** 20;
/** A CNI daemon without any waiting call. */
const idleBytes = 32 * mebibyte;
/** Seen in the outage that this guard is for: with 73 waiting pods a node, Multus was killed at 512Mi and lived at 1Gi. */
const perPodDefaultBytes = 8 * mebibyte;
/** With fewer waiting calls, what the daemon holds anyway would count as theirs. */
const waitingMin = 10;

interface MemoryNeed {
  readonly bytes: number;
  /** The sum in words. */
  readonly text: string;
}

/** What the CNI daemon of the fullest node needs while its pods catch up, by the storm's own numbers. */
export function memoryNeed(world: World): MemoryNeed {
  const { node, pods } = fullestNode(world);
  const seen = dearestView(world.nodeViews);
  const perPodBytes = seen === undefined ? perPodDefaultBytes : seen.bytes;
  const bytes = idleBytes + pods * perPodBytes;
  const each =
    seen === undefined
      ? "no daemon has told its memory, so this is what Multus took in the outage that the guard was built for"
      : `the daemon of ${seen.view.node} takes that much: ${inMebibytes(seen.view.memoryBytes)} with ${seen.view.waiting} calls waiting`;
  return {
    bytes,
    text: `${pods} pods wait on ${node} × ${inMebibytes(perPodBytes)} (${each}) + ${memoryText(idleBytes)} at rest = ${inMebibytes(bytes)}`,
  };
}

function fullestNode({ pods, nowMs, stuckAfterMs }: World): { readonly node: string; readonly pods: number } {
  const counts = new Map<string, number>();
  for (const pod of pods) if (isStuck(pod, nowMs, stuckAfterMs)) counts.set(pod.node, (counts.get(pod.node) ?? 0) + 1);
  const [fullest] = [...counts].toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1));
  return { node: fullest?.[0] ?? "no node", pods: fullest?.[1] ?? 0 };
}

interface DearView {
  readonly bytes: number;
  readonly view: NodeViewFacts & { readonly memoryBytes: number };
}

/** The most that a daemon takes for each call that waits. What it holds at rest is counted with it, which errs on the safe side. */
function dearestView(views: readonly NodeViewFacts[]): DearView | undefined {
  const known = views.flatMap((view): readonly DearView[] => {
    const { memoryBytes, waiting } = view;
    if (memoryBytes === undefined || memoryBytes === 0 || waiting < waitingMin) return [];
    return [{ bytes: Math.ceil(memoryBytes / waiting), view: { ...view, memoryBytes } }];
  });
  return known.toSorted((left, right) => right.bytes - left.bytes)[0];
}

function inMebibytes(bytes: number): string {
  const size = bytes / mebibyte;
  return `${size < 10 ? Number(size.toFixed(1)) : Math.ceil(size)}Mi`;
}
