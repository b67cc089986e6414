import type { TopAnswer } from "../../src/wire/top-view.ts";

/** What one answer of the daemon says of its slots for ADDs. */
export interface SlotSample {
  readonly atMs: number;
  readonly attaching: number;
  readonly limit: number;
  /** ADDs in line. */
  readonly waiting: number;
}

/** How the slots were used while pods waited. */
export interface SlotUse {
  readonly samples: number;
  /** For how long pods waited. */
  readonly waitedMs: number;
  /** Of that time, the share in which a slot was free. */
  readonly freeShare: number;
  readonly limitMin: number;
  readonly limitMax: number;
}

export function slotSample({ monotonicMs, slots, classes }: TopAnswer): SlotSample {
  const adds = classes.filter((row) => row.class !== "detach");
  return {
    atMs: monotonicMs,
    attaching: slots.attaching,
    limit: slots.limit,
    waiting: adds.reduce((sum, { waiting }) => sum + waiting, 0),
  };
}

/** Each sample stands for the time until the next one. Undefined when no pod was seen waiting. */
export function slotUse(samples: readonly SlotSample[]): SlotUse | undefined {
  const spans = samples
    .slice(0, -1)
    .map((sample, index) => ({ ...sample, forMs: (samples[index + 1] ?? sample).atMs - sample.atMs }))
    .filter(({ waiting }) => waiting > 0);
  const waitedMs = sumOf(spans);
  if (waitedMs === 0) return undefined;
  const limits = spans.map(({ limit }) => limit);
  return {
    samples: spans.length,
    waitedMs,
    freeShare: sumOf(spans.filter(({ attaching, limit }) => attaching < limit)) / waitedMs,
    limitMin: Math.min(...limits),
    limitMax: Math.max(...limits),
  };
}

function sumOf(spans: readonly { readonly forMs: number }[]): number {
  return spans.reduce((sum, { forMs }) => sum + forMs, 0);
}
