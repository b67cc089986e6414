/** Orders outside of a journalled plan are numbered from here, so that a RESUME never confuses them with a step. */
export const unplannedStepMin = 1_000_000;

/** Whether an order is a step of a journalled plan. Only such a step can leave something that the journal must know. */
export function isPlanned(step: number): boolean {
  return step < unplannedStepMin;
}
