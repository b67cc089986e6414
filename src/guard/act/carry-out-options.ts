import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { Leadership } from "../decide/next-status.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import type { TextGetter } from "../observe/get-text.ts";
import type { StepRunners } from "./step-runner.ts";

export interface CarryOutOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  readonly runners: StepRunners;
  readonly term: Leadership & { isHeld(): boolean };
  /** Aborted when the term is lost or the process ends. */
  readonly signal: AbortSignal;
  readonly world: () => World;
  /** How Prometheus is asked; over the network unless given. */
  readonly getText?: TextGetter;
}
