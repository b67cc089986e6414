import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { Decision, StepStatus } from "../decision/decision.ts";
import type { Step, StepAction } from "../decision/step.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";

/**
 * Carries out the steps of one action. Each part answers with a text for people when the plan cannot go on, and the
 * Decision is then paused with it; an error that is thrown pauses it too. A step may be begun again after a pause or by
 * another leader: whatever has been done already must be found and not done twice.
 */
export interface StepRunner<S extends Step = Step> {
  /** Why the step may not begin, by what is read just now; undefined when it may. */
  precondition(step: S, context: StepContext): Promise<string | undefined>;
  /** Asks the server with a dry run. Why it would refuse; undefined when it would not. */
  rehearse(step: S, context: StepContext): Promise<string | undefined>;
  /** Does it. */
  perform(step: S, context: StepContext): Promise<StepResult>;
  /** What is still missing; undefined when nothing is. Asked again until the step's deadline has passed. */
  check(step: S, context: StepContext): Promise<string | undefined>;
}

/** One runner for each action that this guard can carry out. */
export type StepRunners = { readonly [A in StepAction]?: StepRunner<Extract<Step, { readonly action: A }>> };

/** What a step has to tell about itself; the rest of its status is written by whoever drives it. */
export type StepReport = Partial<Pick<StepStatus, "message" | "removed" | "gone" | "leftAlone" | "commit" | "lines">>;

export interface StepResult extends StepReport {
  /**
   * Why it cannot be done now, though the plan may go on without it for the time being. It is tried again after the other
   * steps, until its deadline has passed, and the Decision does not succeed before.
   */
  readonly later?: string;
}

export interface StepContext {
  /** With its status as it was last written. */
  readonly decision: Decision;
  /** What is known now; the watch is a moment behind the server. */
  readonly world: () => World;
  /**
   * Before each request that writes it asks whether we lead, whether the approval stands and whether anybody has said stop,
   * all of it on the server. When not, the request is not sent, and what it throws must not be caught.
   */
  readonly api: KubeApi;
  /** The same question, and whether our right to act stands, for what is written elsewhere than to the API server: git. */
  mayWrite(): Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  /** Aborted when this process has to stop at once. */
  readonly signal: AbortSignal;
  /** What this step has told about itself so far, under this leader or another. */
  readonly reported: StepReport;
  /** Writes into the step's status, under the leader's fence. */
  report(report: StepReport): Promise<void>;
  /** Written before a batch is carried out: what is about to be done, to which objects. */
  intend(batch: number, uids: readonly string[]): Promise<void>;
  /** One line for who looks into it later: what was done to which objects, and what came of it. */
  audit(what: string, objects: readonly string[], result: string): void;
}
