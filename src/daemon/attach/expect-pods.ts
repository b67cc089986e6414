import type { Admission } from "../../admission/admission.ts";
import type { LiveView } from "../../view/view.ts";
import type { PodChange, PodFacts } from "../../view/pod-facts.ts";

/** Tells admission which pods are scheduled to this node and not started yet. */
export function expectPods(live: LiveView, admission: Pick<Admission, "expect" | "unexpect" | "prioritize">): void {
  live.onPodChange((change) => {
    const { before, now } = change;
    if (now !== undefined && before?.uid !== now.uid) {
      // Its ADD may have begun to wait before its priority was known.
      admission.prioritize(now.uid, now.priority);
      // Pods of the first list may have been there for long.
      if (live.isSynced() && isStarting(now)) admission.expect(now.uid, now.priority);
    }
    const started = startedBy(change);
    if (started !== undefined) admission.unexpect(started);
  });
}

/** The UID of a pod that has stopped starting: it runs, is deleted, gone or replaced. */
function startedBy({ before, now }: PodChange): string | undefined {
  if (before === undefined || !isStarting(before)) return undefined;
  return now?.uid === before.uid && isStarting(now) ? undefined : before.uid;
}

function isStarting({ phase, hostNetwork, isDeleting, isStatic }: PodFacts): boolean {
  return phase === "Pending" && hostNetwork !== true && isDeleting !== true && !isStatic;
}
