import { LeveeError } from "../../base/errors.ts";
import type { StepStatus } from "../decision/decision.ts";
import type { Step } from "../decision/step.ts";
import { timeText } from "../json-values.ts";
import { auditLine } from "./audit-line.ts";
import type { CarryOutOptions } from "./carry-out-options.ts";
import { tellEvent } from "./decision-event.ts";
import type { RunningDecision } from "./running-decision.ts";
import { newlyFallen } from "./steps/fallen-workloads.ts";
import { holdsProblem } from "./steps/hold-seen.ts";
import type { StepContext, StepRunner, StepReport, StepResult } from "./step-runner.ts";
import { stormProblem } from "./steps/storm.ts";
import type { WriteGate } from "./write-gate.ts";

const betweenChecksMs = 2_000;
/** For a step that waits for something outside, such as a git server. */
const betweenAttemptsMs = 15_000;

/** Takes one step at a time through precondition, dry run, action, and check until the deadline. */
export class StepDrive {
  readonly #options: CarryOutOptions;
  readonly #running: RunningDecision;
  readonly #gate: WriteGate | undefined;

  /** Without a gate it can only write events. */
  constructor(options: CarryOutOptions, running: RunningDecision, gate?: WriteGate) {
    this.#options = options;
    this.#running = running;
    this.#gate = gate;
  }

  /** `later`: the step cannot be done now, and the plan may go on without it for a while. */
  async carryOut(step: Step): Promise<"done" | "later"> {
    const runner = this.#runnerOf(step);
    const context = this.#context(step);
    const where = this.#where(step);
    await this.#gate?.ask();
    const { settings, world } = this.#options;
    await this.#running.write(
      { step: where, message: step.title },
      { id: step.id, phase: "Running", message: "Checks the preconditions", ...this.#followed(step) },
    );
    refuse(stormProblem(step, this.#running.decision, world(), settings), "storm mode");
    // A person can end the hold of an earlier step at any time.
    refuse((await holdsProblem(step, context)) ?? (await runner.precondition(step, context)), "it may not start");
    await this.#rehearse(step, runner, context);
    this.tell("Normal", "StepStarted", `${where}: ${step.title}`);
    const { later, ...told } = await runner.perform(step, context);
    if (later !== undefined) return await this.#defer(step, later, told);
    await context.report({ ...told, message: `Checks: ${step.check.what}` });
    await this.#untilChecked(step, runner, context);
    await this.#done(step, told);
    return "done";
  }

  /** Repeats a deferred step until it is done or its deadline has passed. */
  async untilDone(step: Step): Promise<void> {
    const { clock, signal } = this.#options;
    const endMs = clock.monotonicMs() + step.check.deadlineSeconds * 1_000;
    while ((await this.carryOut(step)) === "later") {
      if (clock.monotonicMs() >= endMs) {
        const why = this.#running.stepStatus(step.id)?.message ?? "";
        refuse(why, `it was not done within ${step.check.deadlineSeconds} s`);
      }
      await clock.sleep(betweenAttemptsMs, signal);
    }
  }

  /** Writes an event on the Decision; nothing depends on it. */
  tell(type: "Normal" | "Warning", reason: string, message: string): void {
    tellEvent(this.#options, this.#running.decision, { type, reason, message });
    this.#audit(message, [], type === "Normal" ? "done" : "stopped");
  }

  /** Victims may recover before Verify looks, or get no further than their network: what fell is kept. */
  #followed({ id }: Step): StepReport {
    const { settings, world } = this.#options;
    const fallen = newlyFallen(this.#running.decision, world(), settings);
    if (fallen.length === 0) return {};
    return { followed: [...(this.#running.stepStatus(id)?.followed ?? []), ...fallen] };
  }

  async #rehearse(step: Step, runner: StepRunner, context: StepContext): Promise<void> {
    const refusal = await runner.rehearse(step, context);
    const dryRun = refusal === undefined ? "Passed" : "Refused";
    await this.#running.write({}, { id: step.id, dryRun });
    refuse(refusal, "the dry run was refused");
  }

  async #defer(step: Step, why: string, told: StepResult): Promise<"later"> {
    await this.#running.write({}, { ...told, id: step.id, phase: "Waiting", message: `Will be tried again: ${why}` });
    this.#audit(step.title, [], `deferred: ${why}`);
    return "later";
  }

  async #untilChecked(step: Step, runner: StepRunner, context: StepContext): Promise<void> {
    const { clock, signal } = this.#options;
    const endMs = clock.monotonicMs() + step.check.deadlineSeconds * 1_000;
    let told = "";
    for (;;) {
      const missing = await runner.check(step, context);
      if (missing === undefined) return;
      if (clock.monotonicMs() >= endMs)
        refuse(missing, `its check does not hold after ${step.check.deadlineSeconds} s`);
      // A check only reads, but a stop must still be heard.
      await this.#gate?.ask();
      if (missing !== told) await this.#waits(step, `Waits for its check: ${missing}`);
      told = missing;
      await clock.sleep(Math.min(betweenChecksMs, Math.max(1, endMs - clock.monotonicMs())), signal);
    }
  }

  /** Also sets the Decision's own message, because lists of Decisions show that one. */
  async #waits(step: Step, message: string): Promise<void> {
    await this.#running.write({ message: `Step ${step.id}: ${message}` }, { id: step.id, message });
  }

  async #done(step: Step, told: StepReport): Promise<void> {
    const message = told.message ?? `Done: ${step.check.what}`;
    await this.#running.write({}, { ...told, id: step.id, phase: "Done", verified: true, message });
    this.tell("Normal", "StepDone", `${this.#where(step)}: ${message}`);
  }

  #context(step: Step): StepContext {
    const { clock, logger, settings, signal, world, getText } = this.#options;
    const running = this.#running;
    const gate = this.#gate;
    if (gate === undefined) throw new LeveeError("internal", "Cannot carry out a step without a write gate");
    return {
      get decision() {
        return running.decision;
      },
      get reported() {
        return reportOf(running.stepStatus(step.id));
      },
      world,
      api: gate,
      mayWrite: () => gate.askElsewhere(),
      clock,
      logger,
      settings,
      getText,
      signal,
      report: (report) => running.write({}, { ...report, id: step.id }),
      intend: (batch, uids) =>
        running.write({ intent: { step: step.id, batch, uids, at: timeText(clock.wallMs()) } }, { id: step.id }),
      audit: (what, objects, result) => this.#audit(`${this.#where(step)}: ${what}`, objects, result),
    };
  }

  #runnerOf(step: Step): StepRunner {
    // By the table's type each runner gets the steps of its own action.
    const runner: StepRunner | undefined = this.#options.runners[step.action];
    if (runner !== undefined) return runner;
    throw new LeveeError(
      "internal",
      `Cannot carry out the step ${this.#where(step)}: this guard has no step runner for it; use the step's kubectl lines, then reject the rest`,
    );
  }

  #where(step: Step): string {
    return `${step.id}/${this.#running.decision.spec.steps.length} ${step.action}`;
  }

  #audit(what: string, objects: readonly string[], result: string): void {
    auditLine(this.#options.logger, this.#running.decision, { what, objects, result });
  }
}

/** The error pauses the Decision. */
function refuse(why: string | undefined, doing: string): void {
  if (why !== undefined) throw new LeveeError("not-ready", `${doing}: ${why}`);
}

function reportOf(status: StepStatus | undefined): StepReport {
  if (status === undefined) return {};
  const { message, removed, gone, leftAlone, commit, lines, followed } = status;
  return {
    message,
    ...(removed === undefined ? {} : { removed }),
    ...(gone === undefined ? {} : { gone }),
    ...(leftAlone === undefined ? {} : { leftAlone }),
    ...(commit === undefined ? {} : { commit }),
    ...(lines === undefined ? {} : { lines }),
    ...(followed === undefined ? {} : { followed }),
  };
}
