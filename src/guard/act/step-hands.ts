import { holdArgoAppHand } from "./hold-argo-app.ts";
import { listStuckHand } from "./list-stuck.ts";
import { removePodsHand } from "./remove-pods.ts";
import { setMemoryLimitHand } from "./set-memory-limit.ts";
import type { StepHands } from "./step-hand.ts";
import { stopSourceHand } from "./stop-source.ts";
import { verifyHand } from "./verify.ts";

/** What this guard can carry out. An action without a hand pauses its Decision. */
export const stepHands: StepHands = {
  StopSource: stopSourceHand,
  HoldArgoApp: holdArgoAppHand,
  RemovePods: removePodsHand,
  SetMemoryLimit: setMemoryLimitHand,
  ListStuck: listStuckHand,
  Verify: verifyHand,
};
