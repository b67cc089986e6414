import type { Parts } from "../parts.ts";
import { classOf, type AdmissionRequest, type ClassRules } from "../request.ts";
import type { Hold } from "./retry-budget.ts";

/** What keeps a pod from being tried again now; a hold for a network that fails gives way to the network's own probes. */
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
