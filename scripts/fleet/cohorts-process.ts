/** Plays cohorts of a fleet, one after another, as play-fleet.ts hands them out. */
import type { FleetPlan } from "../../src/sim/fleet/fleet-plan.ts";
import { playCohort } from "../../src/sim/fleet/play-cohort.ts";
import type { CohortDone } from "./play-fleet.ts";

process.on("message", ({ plan, cohort }: { plan: FleetPlan; cohort: number }) => {
  void playCohort(plan, cohort).then((tally) => {
    const { user, system } = process.cpuUsage();
    const done: CohortDone = { tally, cpuMs: (user + system) / 1_000, rssBytes: process.memoryUsage().rss };
    process.send?.(done);
  });
});
process.on("disconnect", () => process.exit(0));
