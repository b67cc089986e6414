import type { StepHands } from "./step-hand.ts";

/** What this guard can carry out. An action without a hand pauses its Decision. */
export const stepHands: StepHands = {};
