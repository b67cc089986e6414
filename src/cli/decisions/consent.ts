import type { Decision, Verdict } from "../../guard/decision/decision.ts";
import { isPlanIntact } from "../../guard/decision/parse-decision.ts";
import { decisionPhase } from "../../guard/decide/standing.ts";
import { terminalPhases } from "../../guard/decision/decision.ts";
import { CommandFailure, exitCode } from "../failure.ts";
import type { World } from "../world.ts";
import { typeLine } from "./type-line.ts";

export interface ConsentOptions {
  /** The hash of the plan that was read, for scripts. */
  readonly planHash?: string;
  /** Spares the question where the word only stops things. It never stands for an approval. */
  readonly yes?: boolean;
}

/** How much has to be said before a word is given. To stop is free; what lets the guard write is said in full. */
export const care: Readonly<Record<Verdict, "plan" | "question" | "none">> = {
  Approve: "plan",
  Resume: "plan",
  ResetBreaker: "plan",
  Reject: "question",
  Pause: "none",
};

/** Whether this plan can still be spoken about; throws otherwise. */
export function requireOpen(decision: Decision, verdict: Verdict): void {
  const { name } = decision.metadata;
  const phase = decisionPhase(decision);
  if (terminalPhases.has(phase))
    throw missing("decision-ended", `Cannot say ${verdict} to ${name}: it has ended as ${phase}, which is final`, {
      remedy: "levee decisions list",
    });
  if (verdict === "Resume" && phase === "Proposed")
    throw missing("decision-proposed", `Cannot say Resume to ${name}: it is Proposed, and begins by an approval only`, {
      remedy: `levee decisions approve ${name}`,
    });
  const isStop = verdict === "Reject" || verdict === "Pause";
  if (!isStop && !isPlanIntact(decision))
    throw missing(
      "plan-changed",
      `Cannot say ${verdict} to ${name}: its plan is not the one its hash was computed from`,
      {
        remedy: `levee decisions reject ${name}`,
      },
    );
}

/** Gets the consent of the person who runs the command, or throws: exit status 4. */
export async function requireConsent(
  world: World,
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
      `Cannot say ${verdict} to ${name}: its plan is ${planHash}, not ${options.planHash}`,
      {
        remedy: `levee decisions show ${name}, then with its hash`,
      },
    );
  }
  if (care[verdict] === "none" || (care[verdict] === "question" && options.yes === true)) return;
  const typed = await typeLine(world, `Type the Decision's name to say ${verdict} to plan ${planHash}: `);
  if (typed === undefined)
    throw missing("approval-required", `Cannot say ${verdict} to ${name}: nobody is here to confirm it`, {
      remedy: `levee decisions ${commandOf(verdict)} ${name} --plan-hash ${planHash}`,
    });
  if (typed.trim() !== name)
    throw missing("approval-required", `Said nothing: ${JSON.stringify(typed)} is not the name ${name}`, {});
}

export function commandOf(verdict: Verdict): string {
  return verdict === "ResetBreaker" ? "reset-breaker" : verdict.toLowerCase();
}

function missing(code: string, message: string, { remedy = "" }: { readonly remedy?: string }): CommandFailure {
  return new CommandFailure(code, message, { remedy, exitCode: exitCode.wordMissing });
}
