import type { StormPoint } from "../../wire/console-storm.ts";
import type { ConsolePod } from "../facts/console-pod.ts";
import { stormSpanMs } from "./storm-ring.ts";

/** Coarser than live points: pods' times are whole seconds, and pods that are gone are missing. */
const pastStepMs = 15_000;

/**
 * The hour before the console was started, from the times that living pods carry: bound then, network since. It shows
 * when a storm began; pods that are gone cannot be counted.
 */
export function stormPast(pods: Iterable<ConsolePod>, nowMs: number): readonly StormPoint[] {
  const steps = Math.floor(stormSpanMs / pastStepMs);
  const startMs = nowMs - steps * pastStepMs;
  const slotOf = (ms: number): number => Math.min(steps, Math.max(0, Math.ceil((ms - startMs) / pastStepMs)));
  const bound = new Float64Array(steps + 1);
  const attached = new Float64Array(steps + 1);
  const done = new Float64Array(steps + 1);
  for (const pod of pods) {
    if (pod.state !== "waiting" && pod.state !== "attached") continue;
    // A running pod that does not say when it was attached counts as attached for ever.
    const fromMs = pod.state === "attached" && pod.attachedMs === 0 ? 0 : pod.boundMs;
    bump(bound, slotOf(fromMs));
    if (pod.state !== "attached") continue;
    bump(attached, slotOf(pod.attachedMs));
    if (pod.attachedMs > startMs) bump(done, slotOf(pod.attachedMs));
  }
  return pointsOf({ bound, attached, done }, startMs);
}

interface Slots {
  readonly bound: Float64Array;
  readonly attached: Float64Array;
  readonly done: Float64Array;
}

/** The last slot is the present moment, which is counted live. */
function pointsOf({ bound, attached, done }: Slots, startMs: number): readonly StormPoint[] {
  const points: StormPoint[] = [];
  let [boundSoFar, attachedSoFar] = [0, 0];
  for (let at = 0; at < bound.length - 1; at += 1) {
    boundSoFar += bound[at] ?? 0;
    attachedSoFar += attached[at] ?? 0;
    const waiting = Math.max(0, boundSoFar - attachedSoFar);
    points.push({ atMs: startMs + at * pastStepMs, waiting, attached: attachedSoFar, done: done[at] ?? 0 });
  }
  return points;
}

function bump(slots: Float64Array, at: number): void {
  slots[at] = (slots[at] ?? 0) + 1;
}
