import type { Decision, DecisionApproval, Verdict } from "../../guard/decision/decision.ts";
import { isPlanIntact } from "../../guard/decision/parse-decision.ts";
import { decisionPhase } from "../../guard/decide/standing.ts";
import { terminalPhases } from "../../guard/decision/decision.ts";
import { CommandFailure, exitCode } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { typeLine } from "./type-line.ts";

export interface ConsentOptions {
  /** The hash of the plan that was read, for scripts. */
  readonly planHash?: string;
  /** Skips the question for a verdict that only stops things. It never replaces an approval. */
  readonly yes?: boolean;
}

/** What a verdict needs: nothing to pause, a question to reject, the plan's name or hash if the guard may write after it. */
export const care: Readonly<Record<Verdict, "plan" | "question" | "none">> = {
  Approve: "plan",
  Resume: "plan",
  ResetBreaker: "plan",
  Reject: "question",
  Pause: "none",
};

/** Throws if this verdict is not possible for the Decision any more. */
export function requireOpen(decision: Decision, verdict: Verdict): void {
  const { name } = decision.metadata;
  const phase = decisionPhase(decision);
  if (terminalPhases.has(phase))
    throw missing("decision-ended", `Cannot ${commandOf(verdict)} ${name}: it has ended as ${phase}, which is final`, {
      remedy: "levee decisions list",
    });
  if (verdict === "Resume" && phase === "Proposed")
    throw missing("decision-proposed", `Cannot resume ${name}: it is Proposed, and only an approval begins it`, {
      remedy: `levee decisions approve ${name}`,
    });
  const isStop = verdict === "Reject" || verdict === "Pause";
  if (!isStop && !isPlanIntact(decision))
    throw missing("plan-changed", `Cannot ${commandOf(verdict)} ${name}: its plan does not match its hash`, {
      remedy: `levee decisions reject ${name}`,
    });
}

/** Asks the person for consent, or throws with exit status 4. */
export async function requireConsent(
  shell: Shell,
  decision: Decision,
  verdict: Verdict,
  options: ConsentOptions,
): Promise<void> {
  const { name } = decision.metadata;
  const { planHash } = decision.spec;
  if (options.planHash !== undefined) {
    if (options.planHash === planHash) return;
    throw missing(
      "plan-changed",
      `Cannot ${commandOf(verdict)} ${name}: its plan is ${planHash}, not ${options.planHash}`,
      {
        remedy: `levee decisions show ${name}, then repeat with its hash`,
      },
    );
  }
  if (care[verdict] === "none" || (care[verdict] === "question" && options.yes === true)) return;
  const typed = await typeLine(shell, `Type the Decision's name to ${commandOf(verdict)} plan ${planHash}: `);
  if (typed === undefined)
    throw missing("approval-required", `Cannot ${commandOf(verdict)} ${name}: there is no terminal to confirm it`, {
      remedy: `levee decisions ${commandOf(verdict)} ${name} --plan-hash ${planHash}`,
    });
  requireNamed(decision, verdict, typed);
}

/** Throws unless the person typed the Decision's name. */
export function requireNamed({ metadata }: Decision, verdict: Verdict, typed: string): void {
  const { name } = metadata;
  if (typed.trim() !== name)
    throw missing(
      "approval-required",
      `Cannot ${commandOf(verdict)} ${name}: ${JSON.stringify(typed)} is not its name`,
      {},
    );
}

/** Throws with the change in words if the plan is no longer the one that was shown. `approval`: a word that came too late. */
export function requireSamePlan(shown: Decision, now: Decision, approval?: DecisionApproval): void {
  if (now.metadata.uid === shown.metadata.uid && now.spec.planHash === shown.spec.planHash) return;
  const { name } = shown.metadata;
  const change = now.spec.revisions?.at(-1)?.change ?? "it is another Decision of this name";
  const done =
    approval === undefined ? "nothing was approved" : `the approval ${approval.metadata.name} does not count`;
  throw missing("plan-changed", `The plan of ${name} changed while you read it, so ${done}: ${change}`, {
    remedy: `levee decisions approve ${name}, which shows the new plan`,
  });
}

export function commandOf(verdict: Verdict): string {
  return verdict === "ResetBreaker" ? "reset-breaker" : verdict.toLowerCase();
}

function missing(code: string, message: string, { remedy = "" }: { readonly remedy?: string }): CommandFailure {
  return new CommandFailure(code, message, { remedy, exitCode: exitCode.wordMissing });
}
