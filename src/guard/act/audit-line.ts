import type { Logger } from "../../base/log.ts";
import type { Decision } from "../decision/decision.ts";

interface Audited {
  readonly what: string;
  /** `namespace/name`; empty when the entry is about the Decision alone. */
  readonly objects: readonly string[];
  readonly result: string;
}

/** One log line for each act or refusal: whose approval, which plan, the act, its objects. */
export function auditLine(
  logger: Logger,
  { metadata, spec, status }: Decision,
  { what, objects, result }: Audited,
): void {
  logger.info("audit", {
    decision: metadata.name,
    planHash: spec.planHash,
    approval: status?.approval?.name ?? "",
    approvedBy: status?.approval?.by ?? "",
    fence: status?.fence ?? 0,
    what,
    objects: objects.join(" "),
    result,
  });
}
