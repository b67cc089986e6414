import type { Admission } from "../../admission/admission.ts";
import type { Clock } from "../../base/clock.ts";
import type { View } from "../../view/view.ts";
import type { HeldPodView, HoldsAnswer } from "../../wire/node-holds.ts";
import type { HungPlugins } from "./hung-plugins.ts";
import { openOf } from "./pod-now.ts";

export interface HoldsNeeds {
  readonly admission: Pick<Admission, "facts" | "holds">;
  readonly clock: Clock;
  readonly hung: Pick<HungPlugins, "all">;
  readonly view: Pick<View, "pods">;
}

/** People read the first rows. */
const rowsMax = 20;

/** Who is held back on this node, by name. */
export function holdsAnswer({ admission, clock, hung, view }: HoldsNeeds): HoldsAnswer {
  const facts = admission.facts();
  return {
    pods: heldPods({ admission, view }),
    podsTotal: facts.heldPods,
    networks: openOf(facts, { clock })
      .slice(0, rowsMax)
      .map(({ network, failures, forMs }) => ({ network, failures, forMs })),
    hung: hung.all(),
  };
}

/** Admission knows pods by their UIDs; one that is gone has no name any more and waits for nothing. */
function heldPods({ admission, view }: Pick<HoldsNeeds, "admission" | "view">): readonly HeldPodView[] {
  const holds = admission.holds(rowsMax);
  if (holds.length === 0) return [];
  const byUid = new Map((view.pods() ?? []).map((pod) => [String(pod.uid), pod]));
  return holds.flatMap(({ pod: uid, failures, failure, nextTryMs }): readonly HeldPodView[] => {
    const pod = byUid.get(uid);
    if (pod === undefined) return [];
    const { cause, network } = failure;
    return [
      {
        ...{ namespace: pod.namespace, pod: pod.name, failures, nextTryMs: Math.round(nextTryMs), cause },
        ...(network === undefined ? {} : { network }),
      },
    ];
  });
}
