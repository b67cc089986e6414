import type { Logger } from "../../base/log.ts";
import type { Decision } from "../decision/decision.ts";

interface Audited {
  readonly what: string;
  /** `namespace/name`; empty when it is about the Decision alone. */
  readonly objects: readonly string[];
  readonly result: string;
}

/** One line for each thing that was done or refused: by whose word, under which plan, what, to which objects. */
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
