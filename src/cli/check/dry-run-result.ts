import type { DryRunAnswer } from "../../wire/dry-run.ts";

/** How the dry run of one network ended on one node. */
export type DryRunResult = Pick<DryRunAnswer, "state" | "step" | "reason" | "remedy" | "addresses" | "tookMs"> &
  Pick<DryRunAnswer, "containerId">;

/** The daemon answers at once and works in the background. */
export const pollMs = 250;
/** Plan, ADD, CHECK, DEL and their undo have limits of their own, which sum up to less. */
export const triesMsMax = 180_000;

/** Nothing was tried. */
export function refusedDryRun(reason: string, remedy: string): DryRunResult {
  return { state: "refused", step: "look", reason, remedy, addresses: [], tookMs: 0 };
}

/** It was begun, and its end is not known. */
export function lostDryRun(reason: string): DryRunResult {
  const remedy = "the daemon undoes what is left by itself: levee ls and levee leaks on that node show it";
  return { state: "failed", step: "look", reason, remedy, addresses: [], tookMs: 0 };
}

/** The daemon compares the leases of the node; those of whereabouts are in the API server. */
export function keptDryRun(result: DryRunResult, addresses: readonly string[]): DryRunResult {
  return {
    ...result,
    state: "failed",
    step: "compare",
    reason: `The plugins succeeded, but whereabouts still holds ${addresses.join(", ")} for the dry run`,
    remedy: "whereabouts' own reconciler gives it back; its log on that node says why DEL did not",
  };
}

export function dryRunWord({ state, step }: DryRunResult): string {
  return state === "failed" && step !== "look" ? `failed at ${step}` : state;
}
