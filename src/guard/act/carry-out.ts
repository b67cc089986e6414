import { toLeveeError } from "../../base/errors.ts";
import type { Decision, DecisionPhase, DecisionStatus, StepStatus } from "../decision/decision.ts";
import type { Step } from "../decision/step.ts";
import { timeText } from "../facts/json-values.ts";
import type { CarryOutOptions } from "./carry-out-options.ts";
import { DecisionRecord } from "./decision-record.ts";
import { DecisionGoneError, HaltError } from "./halt.ts";
import { StepDrive } from "./step-drive.ts";
import { WriteGate } from "./write-gate.ts";

/**
 * Carries out one Decision that was approved, or that a person has resumed, step by step. Whatever fails pauses it and says
 * why. Resolves with the phase it was left in; undefined when there was nothing to carry out. Rejects when leadership is
 * lost or a status is refused: the process must end then.
 */
export async function carryOut(options: CarryOutOptions, seen: Decision): Promise<DecisionPhase | undefined> {
  const record = await DecisionRecord.read({ ...options, leader: options.term }, seen);
  if (record === undefined || !isToBeCarriedOut(record.decision, options)) return undefined;
  try {
    return await run(options, record).catch((thrown: unknown) => stopped(options, record, thrown));
  } catch (thrown) {
    if (!(thrown instanceof DecisionGoneError)) throw thrown;
    options.logger.warn("a Decision cannot be carried out any further", { why: thrown.message });
    return undefined;
  }
}

/** Approved, or running under this very leader: what another was doing is paused, never taken up. */
export function isToBeCarriedOut({ status }: Decision, { term }: Pick<CarryOutOptions, "term">): boolean {
  if (status?.phase === "Approved") return true;
  return status?.phase === "Running" && status.leader === term.identity && status.fence === term.fence;
}

async function run(options: CarryOutOptions, record: DecisionRecord): Promise<DecisionPhase> {
  const gate = new WriteGate({ ...options, leader: options.term, decision: () => record.decision });
  // Before anything is written: the watch may not have seen that somebody said stop.
  await gate.ask();
  const { spec, status } = record.decision;
  const startedAt = status?.startedAt ?? timeText(options.clock.wallMs());
  const by = status?.approval?.by ?? "";
  await record.write({ phase: "Running", message: `Carried out as approved by ${by}`, startedAt });
  const drive = new StepDrive(options, record, gate);
  const later: Step[] = [];
  for (const step of spec.steps) {
    if (isOver(record.stepStatus(step.id))) continue;
    if ((await drive.carryOut(step)) === "later") later.push(step);
  }
  for (const step of later) await drive.untilDone(step);
  await gate.ask();
  const endedAt = timeText(options.clock.wallMs());
  await record.write({ phase: "Succeeded", message: "Every step is done and every check holds", endedAt });
  drive.tell("Normal", "DecisionSucceeded", "Every step is done and every check holds");
  return "Succeeded";
}

/** Why it stopped goes into the status, as far as that can still be written. */
async function stopped(options: CarryOutOptions, record: DecisionRecord, thrown: unknown): Promise<DecisionPhase> {
  const { term, signal, logger } = options;
  const { name } = record.decision.metadata;
  // Whoever leads now has its own view of this, and a write would be refused.
  if (!term.isHeld() || signal.aborted || thrown instanceof DecisionGoneError) throw thrown;
  const { phase, ...ended } = endOf(record.decision, thrown);
  const { message } = ended;
  const isFailure = !(thrown instanceof HaltError);
  const step = stepUnderWay(record.decision, { phase: isFailure ? "Failed" : "Waiting", message });
  await record.write({ phase, ...ended }, step);
  logger.warn("a Decision stops", { name, phase, why: message });
  new StepDrive(options, record).tell("Warning", `Decision${phase}`, message);
  return phase;
}

/** What a person's word makes of it, or else a pause with the reason. */
function endOf(decision: Decision, thrown: unknown): Pick<DecisionStatus, "phase" | "message" | "endedAt"> {
  if (!(thrown instanceof HaltError)) return { phase: "Paused", message: reasonOf(decision, thrown) };
  const { phase, message, endedAt } = thrown.status;
  return { phase, message, ...(endedAt === undefined ? {} : { endedAt }) };
}

/** A step that was stopped by a person has not failed. */
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
  // RBAC's own words; admission policies have others.
  const remedy = /forbidden: User ".*" cannot /u.test(message)
    ? "; its right to act was taken away (ClusterRoleBinding levee-guard-acts), or never given"
    : "";
  return `${where}${message}${remedy}`;
}

function isOver(status: StepStatus | undefined): boolean {
  return status?.phase === "Done" || status?.phase === "Skipped";
}
