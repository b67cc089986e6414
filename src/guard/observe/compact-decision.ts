import { terminalPhases, type Decision, type DecisionPhase } from "../decision/decision.ts";
import type { Step } from "../decision/step.ts";

/** Nobody asks any more which pods these were about. */
const forgotten: ReadonlySet<DecisionPhase> = new Set<DecisionPhase>(["Expired", "Failed", "Superseded"]);

/**
 * What is kept of a Decision. Of one that has ended only what later proposals go by: there may be hundreds of them, with
 * thousands of targets each. The whole of it is in the API server.
 */
export function compactDecision(decision: Decision): Decision {
  const phase = decision.status?.phase;
  if (phase === undefined || !terminalPhases.has(phase)) return decision;
  const { spec } = decision;
  const steps = spec.steps.map((step) => compactStep(step, forgotten.has(phase)));
  return { ...decision, spec: { ...spec, summary: "", evidence: [], chain: [], notes: [], steps } };
}

function compactStep(step: Step, isForgotten: boolean): Step {
  const short = { ...step, kubectl: [], preconditions: [] };
  if (short.action !== "RemovePods") return short;
  const targets = isForgotten ? [] : short.targets.map(({ uid }) => ({ namespace: "", name: "", uid, node: "" }));
  return { ...short, targets };
}
