import { expect } from "bun:test";
import type { Batch } from "./batch.ts";

/** Of the cases that were served, one in so many begins with a call that goes well: the others compare only errors. */
const servedPerGood = 4;

/** No difference; and the batch was worth it: most cases were served, and a fair share of those went well. */
export function judge(batch: Batch, isPossible = true): void {
  expect(batch.faults.join("\n\n")).toBe("");
  if (process.env["LEVEE_TURNS"] === "1") return;
  expect(batch.served).toBeGreaterThan(batch.left);
  if (isPossible) expect(batch.good).toBeGreaterThanOrEqual(Math.max(1, Math.floor(batch.served / servedPerGood)));
}
