import type { Admission } from "../../admission/admission.ts";
import type { LiveView } from "../../view/view.ts";
import type { PodChange, PodFacts } from "../../view/pod-facts.ts";

/** Tells admission which pods this node has been given and not started yet, as soon as the cluster says so. */
export function expectPods(live: LiveView, admission: Pick<Admission, "expect" | "unexpect" | "prioritize">): void {
  live.onPodChange((change) => {
    const { before, now } = change;
    if (now !== undefined && before?.uid !== now.uid) {
      // A pod may be known by name only when its ADD begins to wait.
      admission.prioritize(now.uid, now.priority);
      // Those of the first list were there before us: nobody knows for how long.
      if (live.isSynced() && isStarting(now)) admission.expect(now.uid, now.priority);
    }
    const started = startedBy(change);
    if (started !== undefined) admission.unexpect(started);
  });
}

/** The pod that was starting and does not any more. */
function startedBy({ before, now }: PodChange): string | undefined {
  if (before === undefined || !isStarting(before)) return undefined;
  return now?.uid === before.uid && isStarting(now) ? undefined : before.uid;
}

function isStarting({ phase, hostNetwork, isDeleting, isStatic }: PodFacts): boolean {
  return phase === "Pending" && hostNetwork !== true && isDeleting !== true && !isStatic;
}
