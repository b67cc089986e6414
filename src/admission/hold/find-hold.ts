import type { Parts } from "../parts.ts";
import { classOf, type AdmissionRequest, type ClassRules } from "../request.ts";
import type { Hold } from "./retry-budget.ts";

/** The pod's current hold. A hold because of a failing network does not count while that network has its own probes. */
export function findHold(
  request: AdmissionRequest,
  { budget, breaker }: Pick<Parts, "budget" | "breaker">,
  rules: ClassRules,
): Hold | undefined {
  if (request.kind !== "attach" || classOf(request, rules) === "critical") return undefined;
  const hold = budget.held(request.pod, request.wants);
  const network = hold?.failure.cause === "network" ? hold.failure.network : undefined;
  return network !== undefined && breaker.isOpen(network) ? undefined : hold;
}
