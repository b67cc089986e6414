import { askPersonRunner } from "./steps/ask-person.ts";
import { holdArgoAppRunner } from "./steps/hold-argo-app.ts";
import { listStuckRunner } from "./steps/list-stuck.ts";
import { restartWorkloadRunner } from "./steps/restart-workload.ts";
import { removePodsRunner } from "./removal/remove-pods.ts";
import { scaleOwnerRunner } from "./steps/scale-owner.ts";
import { setMemoryLimitRunner } from "./steps/set-memory-limit.ts";
import type { StepRunners } from "./step-runner.ts";
import { stopSourceRunner } from "./steps/stop-source.ts";
import { verifyRunner } from "./steps/verify.ts";

/** The step runners of this guard. A step without a runner pauses its Decision. */
export const stepRunners: StepRunners = {
  StopSource: stopSourceRunner,
  HoldArgoApp: holdArgoAppRunner,
  RemovePods: removePodsRunner,
  SetMemoryLimit: setMemoryLimitRunner,
  ListStuck: listStuckRunner,
  RestartWorkload: restartWorkloadRunner,
  ScaleOwner: scaleOwnerRunner,
  AskPerson: askPersonRunner,
  Verify: verifyRunner,
};
