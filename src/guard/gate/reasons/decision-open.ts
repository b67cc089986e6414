import type { GateReason } from "../../../wire/gate-codes.ts";
import { canWait, terminalPhases, type DecisionCause } from "../../decision/decision.ts";
import { timeMs } from "../../json-values.ts";
import type { GateFacts } from "../gate-facts.ts";

const decisionsMax = 5;
/** A Decision about nodes that wait for a reboot must not keep them waiting, and a reboot frees the names of sandboxes. */
const curedByReboots: ReadonlySet<DecisionCause> = new Set<DecisionCause>(["RebootBacklog", "ReservedSandboxNames"]);

/** A Decision waits for a person or is being carried out: the cluster is in trouble or under repair. */
export function decisionOpen(_node: unknown, { decisions, nowMs }: GateFacts): readonly GateReason[] {
  const open = decisions.filter((decision) => {
    const isEnded = terminalPhases.has(decision.status?.phase ?? "Proposed");
    return !isEnded && !curedByReboots.has(decision.spec.cause) && !canWait(decision);
  });
  return open.slice(0, decisionsMax).map(({ metadata, status }) => {
    const phase = status?.phase ?? "Proposed";
    return {
      code: "DecisionOpen",
      message: `the Decision ${metadata.name} is ${phase}${open.length > decisionsMax ? `, one of ${open.length}` : ""}`,
      sinceMs: timeMs(status?.since ?? metadata.creationTimestamp) || nowMs,
      object: `Decision/${metadata.name}`,
      remedy:
        phase === "Proposed" || phase === "Paused"
          ? `levee decisions show ${metadata.name}, then approve or reject it`
          : `wait until it has ended: levee decisions show ${metadata.name}`,
    };
  });
}
