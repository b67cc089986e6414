import type { Seeded } from "../../time/seeded.ts";
import { simNodes } from "../cluster-objects.ts";

/** What operators of tenants do on a working day, whatever a guard is about. */
export type UpkeepAct =
  | {
      /** A node is cordoned, its pods are evicted one after another, and after this time it is uncordoned. */
      readonly kind: "drain";
      readonly atMs: number;
      readonly forMs: number;
      readonly node: string;
      /** Between two evictions. */
      readonly everyMs: number;
    }
  | {
      /** A person changes a workload's template, and its pods are replaced step by step. */
      readonly kind: "rollout";
      readonly atMs: number;
      /** Which workload, counted around. */
      readonly pick: number;
      /** Between two steps. */
      readonly everyMs: number;
    };

const drainShare = 0.2;
const rolloutShare = 0.2;
/** As long as people speak to guards. */
const lastMs = 300_000;

/** Of its own chance, so that the other acts of a seed stay as they are. */
export function upkeepOf(seeded: Seeded): readonly UpkeepAct[] {
  const drain = {
    kind: "drain" as const,
    atMs: seeded.between(1_000, lastMs),
    forMs: seeded.between(30_000, 180_000),
    node: seeded.pick(simNodes),
    everyMs: seeded.between(200, 6_000),
  };
  const rollout = {
    kind: "rollout" as const,
    atMs: seeded.between(1_000, lastMs),
    pick: seeded.whole(0, 5),
    everyMs: seeded.between(500, 8_000),
  };
  return [...(seeded.chance(drainShare) ? [drain] : []), ...(seeded.chance(rolloutShare) ? [rollout] : [])];
}
