/** Plays cohorts of a fleet, one after another, as play-fleet.ts hands them out. */
import type { FleetPlan } from "../../src/sim/fleet/fleet-plan.ts";
import { playCohort } from "../../src/sim/fleet/play-cohort.ts";
import { peakBytes } from "./peak-bytes.ts";
import type { CohortNews } from "./play-fleet.ts";

process.on("message", (order: { plan: FleetPlan; cohort: number }) => void play(order));
process.on("disconnect", () => process.exit(0));
// A Ctrl-C on a terminal goes to all processes. The one that hands out cohorts ends the others.
process.on("SIGINT", () => undefined);

async function play({ plan, cohort }: { plan: FleetPlan; cohort: number }): Promise<void> {
  const tally = await playCohort(plan, cohort, () => tell(used()));
  // What the cohort leaves would come on top of the next one's peak.
  Bun.gc(true);
  tell({ tally, ...used() });
}

function used(): { readonly cpuMs: number; readonly peakBytes: number } {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, peakBytes: peakBytes() };
}

function tell(news: CohortNews): void {
  process.send?.(news);
}
