import type { VerifyCheck } from "../../decision/step.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";
import { kubectl } from "../kubectl-lines.ts";
import type { MemoryChange } from "../memory-change.ts";
import type { StepDraft } from "../step-draft.ts";
import { outsideChecks } from "../verify-step.ts";

/** Some rounds of what pods do all day: starts, ends, restarts. A person can still be reached. */
const watchSeconds = 600;
const withinSeconds = 3_600;

/** Watches the daemon for a while after its memory went down. */
export function lowerVerify({ daemonSet }: MemoryChange, { nowMs }: World, settings: GuardSettings): StepDraft {
  const { namespace, name } = daemonSet;
  const checks: VerifyCheck[] = [
    { check: "DaemonSetReady", namespace, name },
    { check: "MemoryEnough", namespace, name, forSeconds: watchSeconds },
    ...outsideChecks(settings),
  ];
  return ({ id }) => ({
    id,
    action: "Verify",
    title: `Watch ${namespace}/${name} for ${watchSeconds / 60} minutes: no kill and no pressure with less memory`,
    kubectl: [kubectl("-n", namespace, "get", "pods", "-o", "wide")],
    preconditions: [],
    check: { what: "Every check holds at the same time", deadlineSeconds: withinSeconds },
    // `since` keeps old trouble out: what stopped starting before has another cause.
    verify: { withinSeconds, since: timeText(nowMs), checks },
  });
}
