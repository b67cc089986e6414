import { terminalPhases, type Decision } from "../../decision/decision.ts";
import { membersMin } from "../../detect/avalanche.ts";
import type { Cause } from "../../detect/cause.ts";
import { isLateSince } from "../../detect/reboot-backlog.ts";
import { reservedMin } from "../../detect/reserved-names.ts";
import type { World } from "../../facts/world.ts";
import { timeMs } from "../../json-values.ts";
import { askedUids } from "../cause-present.ts";
import { shapeText } from "../shape-text.ts";
import { byAge, decisionPhase, isAnswer, isOfNow } from "../standing.ts";

/** What earlier Decisions say about a cause that has one Decision at a time. */
export interface CauseStanding {
  /** The proposal whose plan follows the facts, because nobody has approved it yet. */
  readonly open?: Decision;
  /** It is approved, under way, done or rejected: nothing is proposed until the cause begins anew or grows. */
  readonly isAnswered: boolean;
}

export function causeStanding(cause: Cause, { decisions }: Pick<World, "decisions">): CauseStanding {
  const about = decisions
    .filter(({ spec }) => spec.cause === cause.cause && spec.subject.namespace === cause.namespace)
    .filter(({ spec }) => spec.subject.shape === shapeText(cause.shape))
    .filter((decision) => isAnswer(decision) && isOfNow(decision, cause.sinceMs));
  const [open] = about.filter((decision) => decisionPhase(decision) === "Proposed").toSorted(byAge);
  const isAnswered = about.some(
    (decision) => decisionPhase(decision) !== "Proposed" && !isCleared(decision) && !hasGrown(cause, decision),
  );
  return { isAnswered, ...(open === undefined ? {} : { open }) };
}

/** The mark of a node stays until its reboot, so a backlog that was cleared once can have new reasons. */
function isCleared(decision: Decision): boolean {
  return decision.spec.cause === "RebootBacklog" && decisionPhase(decision) === "Succeeded";
}

/** As with an avalanche: an answer covers what was there, and what came later is asked about when it is enough by itself. */
function hasGrown(cause: Cause, decision: Decision): boolean {
  if (!terminalPhases.has(decisionPhase(decision))) return false;
  const endedMs = timeMs(decision.status?.endedAt ?? decision.status?.since);
  switch (cause.cause) {
    case "RunawayWorkload":
      return cause.members.filter(({ createdMs }) => createdMs > endedMs).length >= membersMin;
    case "ReservedSandboxNames": {
      const asked = askedUids(decision);
      return cause.members.filter(({ uid }) => !asked.has(uid)).length >= reservedMin;
    }
    case "RebootBacklog":
      return isLateSince(cause, endedMs);
    case "OwnerlessPodAvalanche":
      return false; // `standingOf` knows its pods.
  }
}
