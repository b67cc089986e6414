import { policyProblems, policySinceMs, type PolicyObject } from "../approve/policy-standing.ts";
import { exceptionMsMax, type RebootException } from "./reboot-exception.ts";
import { overrideMsMax, type RebootOverride } from "./reboot-override.ts";

/** The policies that make the author's name in these objects true. */
const exceptionPolicy = "levee-reboot-exception-names-its-author";
const overridePolicy = "levee-approval-names-its-author";
/** By then every API server has seen a policy. Times in objects are whole seconds. */
const policyAgeMinMs = 5_000;
/** Clocks of one cluster differ by seconds. */
const aheadMaxMs = 60_000;

interface Word {
  readonly by: string;
  readonly reason: string;
  readonly createdMs: number;
  readonly untilMs: number;
}

/** Why an exception counts for nothing; undefined when it counts. */
export function exceptionProblem(
  exception: RebootException,
  policies: readonly PolicyObject[],
  nowMs: number,
): string | undefined {
  return wordProblem(exception, nowMs, exceptionMsMax) ?? policyProblem(exception, policies, exceptionPolicy);
}

/** Why a person's override counts for nothing; undefined when it counts. */
export function overrideProblem(
  override: RebootOverride,
  policies: readonly PolicyObject[],
  nowMs: number,
): string | undefined {
  if (override.isDeleting) return "it is being deleted";
  return wordProblem(override, nowMs, overrideMsMax) ?? policyProblem(override, policies, overridePolicy);
}

/** The admission policies check all of this but the end; this is the second lock on the same door. */
function wordProblem({ by, reason, createdMs, untilMs }: Word, nowMs: number, msMax: number): string | undefined {
  if (by === "" || /^system:(?!admin$)/u.test(by)) return `its author ${by} is not a person`;
  if (reason.trim() === "") return "it gives no reason";
  if (createdMs === 0 || createdMs - nowMs > aheadMaxMs) return "its time of creation is missing or in the future";
  if (untilMs - createdMs > msMax) return `it would last longer than ${Math.round(msMax / 3_600_000)} hours`;
  return untilMs <= nowMs ? "it has expired" : undefined;
}

function policyProblem({ createdMs }: Word, policies: readonly PolicyObject[], name: string): string | undefined {
  const [problem] = policyProblems(policies, [name]);
  if (problem !== undefined) return `${problem}: apply guard.yaml of the release, then say it again`;
  if (createdMs - policySinceMs(policies, name) >= policyAgeMinMs) return undefined;
  return `the policy ${name} is not 5 s older than it, so its author may be forged: say it again`;
}
