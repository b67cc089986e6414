import type { Named } from "../../kube/watch/object-store.ts";
import type { Decision, DecisionApproval } from "../decision/decision.ts";
import { parseApproval } from "../decision/parse-approval.ts";
import { parseDecision } from "../decision/parse-decision.ts";
import { compactDecision } from "./compact-decision.ts";

/** A Decision with the name that a reflector finds it by. */
interface KeptDecision extends Named {
  readonly decision: Decision;
}

interface KeptApproval extends Named {
  readonly approval: DecisionApproval;
}

export function keepDecision(value: unknown): KeptDecision | undefined {
  const decision = parseDecision(value);
  if (decision === undefined) return undefined;
  return { namespace: decision.metadata.namespace, name: decision.metadata.name, decision: compactDecision(decision) };
}

export function keepApproval(value: unknown): KeptApproval | undefined {
  const approval = parseApproval(value);
  if (approval === undefined) return undefined;
  return { namespace: approval.metadata.namespace, name: approval.metadata.name, approval };
}
