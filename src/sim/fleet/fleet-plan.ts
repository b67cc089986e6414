import { Seeded } from "../time/seeded.ts";
import type { SimPod } from "../node/sim-pod.ts";

/** The cluster to play. */
export interface FleetPlan {
  readonly seed: number;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly hours: number;
  /**
   * At most so many nodes are played one after another on one simulated machine: the pods that run at the end of one's time
   * run at the beginning of the next one's. Making all pods anew for each node would take several times as long.
   */
  readonly cohortNodesMax: number;
}

/** Something that happens to one node. */
export type FleetDeed =
  | { readonly kind: "bind"; readonly atMs: number; readonly pod: SimPod }
  | { readonly kind: "remove"; readonly atMs: number; readonly pod: SimPod }
  | { readonly kind: "kill-daemon" | "reboot"; readonly atMs: number };

/** Something that happens to all nodes at the same time. */
export interface FleetSpell {
  readonly kind: "api-restart" | "network-hangs" | "network-changes";
  readonly atMs: number;
  readonly forMs: number;
}

export const hourMs = 3_600_000;
export const fleetNetworks = ["net-a", "net-b"] as const;
/** The network that hangs for a while. */
export const hangingNetwork = "net-b";
/** Attaching a cohort's first pods takes as long as the hours of some four nodes. More nodes would save little more. */
export const usualCohortNodesMax = 125;
/** The share of a node's pods that is replaced in an hour: 5,000 nodes of 250 pods then bind 35 pods a second. */
const replacedShare = 0.1;
const criticalShare = 0.05;
/** Of all nodes, in an hour. */
const killedShare = 0.02;
const rebootedShare = 0.01;
/** A pod is replaced by one that is there before it goes, as in a rolling update. */
const overlapMs = { min: 2_000, max: 30_000 };
/** A node's hour ends in order: what has begun has ended. */
const quietMs = 120_000;
const networkChangesMs = 300_000;

/** What happens to all nodes in each hour. */
export function spellsOf({ hours }: FleetPlan): readonly FleetSpell[] {
  return Array.from({ length: hours }, (_, hour) => spellsOfHour(hour * hourMs)).flat();
}

function spellsOfHour(fromMs: number): readonly FleetSpell[] {
  const changes = Array.from({ length: hourMs / networkChangesMs }, (_, at): FleetSpell => {
    return { kind: "network-changes", atMs: fromMs + (at + 0.1) * networkChangesMs, forMs: 0 };
  });
  return [
    ...changes,
    { kind: "api-restart", atMs: fromMs + 20 * 60_000, forMs: 15_000 },
    { kind: "network-hangs", atMs: fromMs + 40 * 60_000, forMs: 180_000 },
  ];
}

/** The pods with which a cohort begins. */
export function firstPods(plan: FleetPlan, cohort: number): readonly SimPod[] {
  const seeded = new Seeded(plan.seed).fork(`pods of cohort ${cohort}`);
  return Array.from({ length: plan.podsPerNode }, (_, at) => podOf(seeded, cohort, `first-${at}`));
}

/** What happens to one node. `running` are the pods that it has; those that are replaced are taken from it. */
export function deedsOf(plan: FleetPlan, node: number, running: readonly SimPod[]): readonly FleetDeed[] {
  const seeded = new Seeded(plan.seed).fork(`node ${node}`);
  const wholeMs = plan.hours * hourMs;
  const endMs = wholeMs - quietMs;
  const old = [...running];
  const count = Math.min(old.length, Math.round(plan.podsPerNode * replacedShare * plan.hours));
  const deeds: FleetDeed[] = [];
  for (let at = 0; at < count; at += 1) {
    const [gone] = old.splice(seeded.whole(0, old.length - 1), 1);
    const atMs = seeded.between(0, endMs - overlapMs.max);
    const pod = podOf(seeded, node, `${node}-${at}`);
    deeds.push({ kind: "bind", atMs, pod });
    if (gone !== undefined)
      deeds.push({ kind: "remove", atMs: atMs + seeded.between(overlapMs.min, overlapMs.max), pod: gone });
  }
  if (seeded.chance(killedShare * plan.hours)) deeds.push({ kind: "kill-daemon", atMs: seeded.between(0, endMs) });
  // A node that boots has pods to start for some minutes.
  if (seeded.chance(rebootedShare * plan.hours)) deeds.push({ kind: "reboot", atMs: seeded.between(0, 0.8 * endMs) });
  return deeds.toSorted((one, other) => one.atMs - other.atMs);
}

function podOf(seeded: Seeded, owner: number, name: string): SimPod {
  const isCritical = seeded.chance(criticalShare);
  const hex = (length: number): string => Buffer.from(seeded.bytes(length)).toString("hex");
  return {
    namespace: isCritical ? "kube-system" : `tenant-${owner % 40}`,
    name: `pod-${name}`,
    uid: `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-9${hex(2).slice(1)}-${hex(6)}`,
    isCritical,
    networks: fleetNetworks.filter(() => seeded.chance(0.5)),
  };
}
