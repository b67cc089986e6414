import { toLeveeError } from "../../base/errors.ts";
import type { Decision, DecisionPhase, DecisionStatus, StepStatus } from "../decision/decision.ts";
import type { Step } from "../decision/step.ts";
import { timeText } from "../json-values.ts";
import type { CarryOutOptions } from "./carry-out-options.ts";
import { RunningDecision } from "./running-decision.ts";
import { DecisionGoneError, HaltError } from "./halt.ts";
import { StepDrive } from "./step-drive.ts";
import { WriteGate } from "./write-gate.ts";

/**
 * Carries out one approved or resumed Decision, step by step. Any failure pauses it with the reason. Resolves with the
 * phase it ends in, or undefined when there was nothing to do. Rejects when the lead is lost or a status is refused: the
 * process must then end.
 */
export async function carryOut(options: CarryOutOptions, seen: Decision): Promise<DecisionPhase | undefined> {
  const running = await RunningDecision.read({ ...options, leader: options.term }, seen);
  if (running === undefined || !isToBeCarriedOut(running.decision, options)) return undefined;
  try {
    return await run(options, running).catch((thrown: unknown) => stopped(options, running, thrown));
  } catch (thrown) {
    if (!(thrown instanceof DecisionGoneError)) throw thrown;
    options.logger.warn("Cannot carry out a Decision any further", { why: thrown.message });
    return undefined;
  }
}

/** Approved, or running under this leader. Work of another leader is paused and never continued. */
export function isToBeCarriedOut({ status }: Decision, { term }: Pick<CarryOutOptions, "term">): boolean {
  if (status?.phase === "Approved") return true;
  return status?.phase === "Running" && status.leader === term.identity && status.fence === term.fence;
}

async function run(options: CarryOutOptions, running: RunningDecision): Promise<DecisionPhase> {
  const gate = new WriteGate({ ...options, leader: options.term, decision: () => running.decision });
  // Ask before the first write: the watch may not have delivered a stop yet.
  await gate.ask();
  const { spec, status } = running.decision;
  const startedAt = status?.startedAt ?? timeText(options.clock.wallMs());
  const by = status?.approval?.by ?? "";
  await running.write({ phase: "Running", message: `Carried out as approved by ${by}`, startedAt });
  const drive = new StepDrive(options, running, gate);
  const later: Step[] = [];
  for (const step of spec.steps) {
    if (isOver(running.stepStatus(step.id))) continue;
    if ((await drive.carryOut(step)) === "later") later.push(step);
  }
  for (const step of later) await drive.untilDone(step);
  await gate.ask();
  const endedAt = timeText(options.clock.wallMs());
  await running.write({ phase: "Succeeded", message: "Every step is done and every check holds", endedAt });
  drive.tell("Normal", "DecisionSucceeded", "Every step is done and every check holds");
  return "Succeeded";
}

/** Writes the reason into the status, if that is still possible. */
async function stopped(options: CarryOutOptions, running: RunningDecision, thrown: unknown): Promise<DecisionPhase> {
  const { term, signal, logger } = options;
  const { name } = running.decision.metadata;
  // Another guard leads now, and the API server would refuse the write.
  if (!term.isHeld() || signal.aborted || thrown instanceof DecisionGoneError) throw thrown;
  const { phase, ...ended } = endOf(running.decision, thrown);
  const { message } = ended;
  const isFailure = !(thrown instanceof HaltError);
  const step = stepUnderWay(running.decision, { phase: isFailure ? "Failed" : "Waiting", message });
  await running.write({ phase, ...ended }, step);
  logger.warn("Stopped a Decision", { name, phase, why: message });
  new StepDrive(options, running).tell("Warning", `Decision${phase}`, message);
  return phase;
}

/** The phase that a person's word demands, or else a pause with the reason. */
function endOf(decision: Decision, thrown: unknown): Pick<DecisionStatus, "phase" | "message" | "endedAt"> {
  if (!(thrown instanceof HaltError)) return { phase: "Paused", message: reasonOf(decision, thrown) };
  const { phase, message, endedAt } = thrown.status;
  return { phase, message, ...(endedAt === undefined ? {} : { endedAt }) };
}

/** The running step. One that a person stopped has not failed. */
function stepUnderWay(
  { status }: Decision,
  change: Pick<StepStatus, "phase" | "message">,
): (Pick<StepStatus, "id"> & Partial<StepStatus>) | undefined {
  const step = status?.steps?.find(({ phase }) => phase === "Running");
  return step === undefined ? undefined : { id: step.id, ...change };
}

function reasonOf({ status }: Decision, thrown: unknown): string {
  const { message } = toLeveeError(thrown, "Cannot go on");
  const where = status?.step === undefined ? "" : `Step ${status.step}: `;
  // RBAC's text; admission policies have other texts.
  const remedy = /forbidden: User ".*" cannot /u.test(message)
    ? "; the guard has no right to act: the ClusterRoleBinding levee-guard-acts is missing"
    : "";
  return `${where}${message}${remedy}`;
}

function isOver(status: StepStatus | undefined): boolean {
  return status?.phase === "Done" || status?.phase === "Skipped";
}
