import { holdArgoAppHand } from "./steps/hold-argo-app.ts";
import { listStuckHand } from "./steps/list-stuck.ts";
import { removePodsHand } from "./removal/remove-pods.ts";
import { setMemoryLimitHand } from "./steps/set-memory-limit.ts";
import type { StepHands } from "./step-hand.ts";
import { stopSourceHand } from "./steps/stop-source.ts";
import { verifyHand } from "./steps/verify.ts";

/** What this guard can carry out. An action without a hand pauses its Decision. */
export const stepHands: StepHands = {
  StopSource: stopSourceHand,
  HoldArgoApp: holdArgoAppHand,
  RemovePods: removePodsHand,
  SetMemoryLimit: setMemoryLimitHand,
  ListStuck: listStuckHand,
  Verify: verifyHand,
};
