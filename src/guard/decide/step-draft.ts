import type { Step } from "../decision/step.ts";

/** Where a step will stand: its lines for people name it. */
interface StepPlace {
  readonly id: number;
  readonly decision: string;
  /** Of the Decision. */
  readonly namespace: string;
}

/** A step that does not know its place yet. */
export type StepDraft = (place: StepPlace) => Step;

/** Gives every step its number, from 1 on. */
export function placeSteps(drafts: readonly StepDraft[], decision: string, namespace: string): readonly Step[] {
  return drafts.map((draft, index) => draft({ id: index + 1, decision, namespace }));
}
