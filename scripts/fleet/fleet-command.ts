import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { usualCohortNodesMax, type FleetPlan } from "../../src/sim/fleet/fleet-plan.ts";
import { fleetText } from "../../src/sim/fleet/fleet-text.ts";
import { cohortsOf } from "../../src/sim/fleet/play-cohort.ts";
import { FleetProgress } from "./fleet-progress.ts";
import { interruptedExit } from "./interruption.ts";
import { playFleet } from "./play-fleet.ts";

export const fleetUsage = `Usage: npm run sim -- fleet [--nodes N] [--pods-per-node N] [--hours N] [--seed N] [--workers N] [-o json]

Plays a whole cluster: each node with its own daemon, its pods, kills and reboots; for all of them the API server restarts
and a network hangs. docs/scale.md says what of it is real.

  --nodes N          5000
  --pods-per-node N  250
  --hours N          1
  --seed N           1; the same seed gives the same result with any number of workers
  --workers N        processes; one per core
  -o json            everything that was counted, by second and by minute

Ctrl-C ends with the cohorts of nodes that are done, and 130.
`;

interface Asked {
  readonly plan: FleetPlan;
  readonly workers: number;
  readonly isJson: boolean;
}

/** `npm run sim -- fleet`. Resolves with the exit code: 1 when a rule was broken, 130 when it was ended early. */
export async function fleetCommand(args: readonly string[], interrupted: AbortSignal): Promise<number> {
  const asked = readFleet(args);
  if (typeof asked === "string") {
    process.stderr.write(`Error: ${asked}\n\n${fleetUsage}`);
    return 2;
  }
  const { plan, workers, isJson } = asked;
  const beganMs = systemClock.monotonicMs();
  const progress = new FleetProgress(plan, systemClock, (line) => process.stderr.write(line));
  const stopSaying = progress.start();
  const run = await playFleet(plan, workers, progress, interrupted);
  stopSaying();
  const times = { ...run, wallMs: systemClock.monotonicMs() - beganMs, workers: Math.min(workers, cohortsOf(plan)) };
  process.stdout.write(isJson ? `${JSON.stringify({ plan, ...times })}\n` : fleetText(plan, run.tally, times));
  if (interrupted.aborted) {
    process.stderr.write(`Interrupted after ${run.tally.nodes} of ${plan.nodes} nodes\n`);
    return interruptedExit;
  }
  return run.tally.broken.length === 0 ? 0 : 1;
}

/** What was asked for, or what is wrong with it. */
export function readFleet(args: readonly string[]): Asked | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        "nodes": { type: "string", default: "5000" },
        "pods-per-node": { type: "string", default: "250" },
        "hours": { type: "string", default: "1" },
        "seed": { type: "string", default: "1" },
        "workers": { type: "string", default: String(availableParallelism()) },
        "output": { type: "string", short: "o", default: "text" },
      },
    });
    if (values.output !== "text" && values.output !== "json")
      throw new Error(`Cannot use -o as it must be text or json: current value is ${JSON.stringify(values.output)}`);
    const plan = {
      seed: between("--seed", values.seed, 1, 1_000_000_000),
      nodes: between("--nodes", values.nodes, 1, 100_000),
      podsPerNode: between("--pods-per-node", values["pods-per-node"], 1, 500),
      hours: between("--hours", values.hours, 1, 24),
      cohortNodesMax: usualCohortNodesMax,
    };
    return { plan, workers: between("--workers", values.workers, 1, 64), isJson: values.output === "json" };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function between(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(
    `Cannot use ${name} as it must be a whole number from ${min} to ${max}: current value is ${JSON.stringify(text)}`,
  );
}
