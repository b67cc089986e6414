import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { Decision, StepStatus } from "../decision/decision.ts";
import type { Step, StepAction } from "../decision/step.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import type { TextGetter } from "../observe/get-text.ts";

/**
 * Carries out the steps of one action. Each part returns a text for people when the plan cannot go on, which pauses the
 * Decision; a thrown error pauses it too. A step may start again after a pause or under another leader, so a runner must
 * find earlier work and not repeat it.
 */
export interface StepRunner<S extends Step = Step> {
  /** Why the step may not start, by fresh reads; undefined when it may. */
  precondition(step: S, context: StepContext): Promise<string | undefined>;
  /** Why the API server would refuse, by a dry run; undefined when it would not. */
  rehearse(step: S, context: StepContext): Promise<string | undefined>;
  perform(step: S, context: StepContext): Promise<StepResult>;
  /** What is still missing; undefined when nothing is. Called until the step's deadline. */
  check(step: S, context: StepContext): Promise<string | undefined>;
}

/** One runner for each action that this guard can carry out. */
export type StepRunners = { readonly [A in StepAction]?: StepRunner<Extract<Step, { readonly action: A }>> };

/** The part of a step's status that its runner writes; `StepDrive` writes the rest. */
export type StepReport = Partial<
  Pick<StepStatus, "message" | "removed" | "gone" | "leftAlone" | "commit" | "lines" | "followed">
>;

export interface StepResult extends StepReport {
  /**
   * Why the step cannot be done now, although the plan may go on without it. It is tried again after the other steps until
   * its deadline, and the Decision does not succeed before it is done.
   */
  readonly later?: string;
}

export interface StepContext {
  /** With the status as last written. */
  readonly decision: Decision;
  /** The current facts; the watch is a moment behind the API server. */
  readonly world: () => World;
  /**
   * Before each write it asks the API server whether we lead, whether the approval counts and whether a person has said
   * stop. If not, it does not send the request, and its error must not be caught.
   */
  readonly api: KubeApi;
  /** The same check plus our right to act, for writes outside of the API server, such as git. */
  mayWrite(): Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  /** How Prometheus is asked; over the network unless given. */
  readonly getText?: TextGetter | undefined;
  /** Aborted when this process must stop at once. */
  readonly signal: AbortSignal;
  /** What this step has reported so far, under any leader. */
  readonly reported: StepReport;
  /** Writes the step's status under the leader's fence. */
  report(report: StepReport): Promise<void>;
  /** Writes down, before a batch, which objects it will change. */
  intend(batch: number, uids: readonly string[]): Promise<void>;
  /** Logs one audit line: the act, its objects, its result. */
  audit(what: string, objects: readonly string[], result: string): void;
}
