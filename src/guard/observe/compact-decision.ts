import { terminalPhases, type Decision, type DecisionPhase } from "../decision/decision.ts";
import type { Step } from "../decision/step.ts";

/** After these phases later proposals need no targets. */
const forgotten: ReadonlySet<DecisionPhase> = new Set<DecisionPhase>(["Expired", "Failed", "Superseded"]);

/**
 * Keeps only what later proposals need of an ended Decision: there may be hundreds, with thousands of targets each. The
 * API server has the full object.
 */
export function compactDecision(decision: Decision): Decision {
  const { spec, status } = decision;
  if (status === undefined || !terminalPhases.has(status.phase)) return decision;
  const { phase } = status;
  const steps = spec.steps.map((step) => compactStep(step, forgotten.has(phase)));
  return {
    ...decision,
    spec: { ...spec, summary: "", evidence: [], chain: [], notes: [], revisions: [], steps },
    status: { ...status, audit: [] },
  };
}

function compactStep(step: Step, isForgotten: boolean): Step {
  const short = { ...step, kubectl: [], preconditions: [] };
  if (short.action !== "RemovePods") return short;
  const targets = isForgotten ? [] : short.targets.map(({ uid }) => ({ namespace: "", name: "", uid, node: "" }));
  return { ...short, targets };
}
