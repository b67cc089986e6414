import { EventLog } from "../story/event-log.ts";
import type { FleetPlan } from "./fleet-plan.ts";
import { cohortNodesOf } from "./play-cohort.ts";
import { waitOf, type FleetTally } from "./fleet-tally.ts";

interface FleetTimes {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** The peaks of all processes, added up although they need not come at one instant. */
  readonly rssBytesMax: number;
  readonly workers: number;
}

/** One hash for all cohorts, in their order. */
export function hashOf({ hashes }: FleetTally): string {
  const log = new EventLog(0);
  const numbers = Object.keys(hashes).toSorted((one, other) => Number(one) - Number(other));
  for (const number of numbers) log.add(Number(number), { kind: "fault", what: hashes[number] ?? "" });
  return log.hash;
}

/** What a person wants to know of a fleet's hours. */
export function fleetText(plan: FleetPlan, tally: FleetTally, times: FleetTimes): string {
  const { nodes, attached, deleted, failedTries, kills, reboots, builtUp } = tally;
  const requests = sum(tally.lists) + sum(tally.watches) + sum(tally.otherRequests);
  const seconds = plan.hours * 3_600;
  const lines = [
    `${nodes} nodes of ${plan.podsPerNode} pods for ${plan.hours} h, seed ${plan.seed}; ${hashOf(tally)}`,
    "",
    `pods that run at the start     ${nodes * plan.podsPerNode}, of which ${builtUp} were attached for this run (${cohortNodesOf(plan)} nodes share theirs)`,
    `attached in that time          ${sum(attached)}, most in a minute ${most(attached)}`,
    `deleted in that time           ${sum(deleted)}`,
    `failed tries                   ${sum(failedTries)}`,
    `daemons killed, nodes rebooted ${sum(kills)}, ${sum(reboots)}`,
    `wait of critical pods          ${waitText(tally.criticalWaits)}`,
    `wait of other pods             ${waitText(tally.waits)}`,
    `longest critical wait          ${Math.round(most(tally.criticalWaitMsMax) / 100) / 10} s, in minute ${place(tally.criticalWaitMsMax)}`,
    `requests to the API server     ${requests}, ${(requests / seconds).toFixed(1)} a second`,
    `lists                          ${sum(tally.lists)}, most in a second ${most(tally.lists)}`,
    `watches                        ${sum(tally.watches)}, most in a second ${most(tally.watches)}`,
    `rules broken                   ${tally.broken.length}`,
    ...tally.broken.slice(0, 10).map((text) => `  ${text}`),
    "",
    `${(times.wallMs / 1_000).toFixed(1)} s, ${(times.cpuMs / 1_000).toFixed(1)} s of CPU, ${Math.round(times.rssBytesMax / 1_048_576)} MiB at the peaks of ${times.workers} ${times.workers === 1 ? "worker" : "workers"} and their parent; ${(times.cpuMs / nodes).toFixed(1)} ms of CPU per node, ${tally.steps} steps`,
  ];
  return `${lines.join("\n")}\n`;
}

function waitText(waits: readonly number[]): string {
  const [half, most99, all] = [0.5, 0.99, 1].map((share) => waitOf(waits, share));
  if (half === undefined || most99 === undefined || all === undefined) return "none waited";
  return `half within ${half / 1_000} s, 99 % within ${most99 / 1_000} s, all within ${all / 1_000} s`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, one) => total + one, 0);
}

function most(counts: readonly number[]): number {
  return counts.reduce((max, one) => Math.max(max, one), 0);
}

function place(counts: readonly number[]): number {
  return counts.indexOf(most(counts));
}
