import type { Step } from "../decision/step.ts";

/** A step's position in its Decision, which its kubectl lines name. */
interface StepPlace {
  readonly id: number;
  readonly decision: string;
  /** The Decision's namespace. */
  readonly namespace: string;
}

/** A step without its position. */
export type StepDraft = (place: StepPlace) => Step;

/** Numbers the steps from 1. */
export function placeSteps(drafts: readonly StepDraft[], decision: string, namespace: string): readonly Step[] {
  return drafts.map((draft, index) => draft({ id: index + 1, decision, namespace }));
}
