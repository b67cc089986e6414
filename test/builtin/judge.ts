import { expect } from "bun:test";
import type { Batch } from "./batch.ts";

/** No difference; and the batch was worth it: most cases were served, and some of those went well. */
export function judge(batch: Batch, isPossible = true): void {
  expect(batch.faults.join("\n\n")).toBe("");
  if (process.env["LEVEE_TURNS"] === "1") return;
  expect(batch.served).toBeGreaterThan(batch.left);
  if (isPossible) expect(batch.good).toBeGreaterThan(0);
}
