import type { Verdict } from "../../guard/decision/decision.ts";
import { Seeded } from "../time/seeded.ts";
import { simNodes } from "./cluster-objects.ts";
import { upkeepOf, type UpkeepAct } from "./upkeep/upkeep-act.ts";

/** Something that happens in the cluster, or that a person says. */
export type ClusterAct =
  | UpkeepAct
  | {
      /** A client makes pods without an owner, and none of them starts. */
      readonly kind: "avalanche";
      readonly atMs: number;
      readonly pods: number;
      readonly everyMs: number;
      /** Multus is killed for memory, and a Deployment waits. */
      readonly hasVictims: boolean;
    }
  | { readonly kind: "runaway"; readonly atMs: number; readonly pods: number }
  | { readonly kind: "reboot-due"; readonly atMs: number; readonly node: string }
  | {
      readonly kind: "alert" | "policy-away" | "alertmanager-away" | "probe-fails" | "probe-hangs";
      readonly atMs: number;
      readonly forMs: number;
    }
  | {
      readonly kind: "node-down" | "cordon" | "daemon-silent";
      readonly atMs: number;
      readonly forMs: number;
      readonly node: string;
    }
  | {
      readonly kind: "word";
      readonly atMs: number;
      readonly verdict: Verdict;
      /** Which of the open Decisions, counted around. */
      readonly pick: number;
      /** About a plan that is no longer there. */
      readonly isStale: boolean;
      /** Taken back after this time; undefined for a word that stays. */
      readonly withdrawAfterMs: number | undefined;
    }
  /** A waiting pod is replaced by another of its name, or starts by itself. */
  | { readonly kind: "swap-pod" | "start-pod"; readonly atMs: number; readonly pick: number };

/** Something that goes wrong between a guard and the cluster. */
export type GuardFault =
  | {
      readonly kind: "kill-leader" | "kill-after-write" | "kill-after-change" | "kill-follower" | "api-expired";
      readonly atMs: number;
    }
  | {
      readonly kind:
        | "pause-leader"
        | "cut-leader"
        | "late-leader"
        | "cut-follower"
        | "api-away"
        | "api-busy"
        | "api-stale"
        | "api-slow"
        | "prometheus-away"
        | "watches-away";
      readonly atMs: number;
      readonly forMs: number;
    };

/** Everything that happens to some guards and their cluster. It is data, so that a part of it can be left out. */
export interface GuardStory {
  readonly kind: "guard";
  readonly seed: number;
  readonly guards: number;
  readonly acts: readonly ClusterAct[];
  readonly faults: readonly GuardFault[];
  /** No fault lasts longer than until then. */
  readonly calmAtMs: number;
}

const instants = [
  "kill-leader",
  "kill-leader",
  "kill-after-write",
  "kill-after-change",
  "kill-after-change",
  "kill-follower",
  "api-expired",
] as const;
const spells = [
  "pause-leader",
  "pause-leader",
  "cut-leader",
  "late-leader",
  "cut-follower",
  "api-away",
  "api-busy",
  "api-stale",
  "api-slow",
  "watches-away",
  "watches-away",
] as const;
const gateSpells = ["watches-away", "watches-away", "pause-leader", "cut-leader", "api-away", "api-stale"] as const;
/** Every kind of fault. */
export const guardFaultKinds: ReadonlySet<string> = new Set([...instants, ...spells, "prometheus-away"]);

const otherVerdicts = ["Reject", "Pause", "Resume", "Resume"] as const;
const endMs = 300_000;
const lateRebootShare = 0.15;
const siteTroubleShare = 0.3;
const prometheusAwayShare = 0.2;
const lateKillShare = 0.3;
/** A guard proposes about 75 s after the pods of an avalanche. */
const proposedMs = 75_000;

/** The story of a seed: what tenants, nodes and people do, and what goes wrong for the guards meanwhile. */
export function guardStoryOfSeed(seed: number): GuardStory {
  const seeded = new Seeded(seed).fork("guard-story");
  const troubles = troublesOf(seeded);
  const isQuiet = troubles.length === 0;
  // Without an outage the gates have the whole story to themselves.
  const words = isQuiet ? nuisancesOf(seeded) : wordsOf(seeded);
  const late = lateReboot(new Seeded(seed).fork("late reboot"));
  const ends = isQuiet ? [] : [outsideOf(new Seeded(seed).fork("outside")), killOf(new Seeded(seed).fork("late kill"))];
  const upkeep = upkeepOf(new Seeded(seed).fork("operators"));
  const lateActs = [...late, ...ends.flatMap((end) => end.acts), ...upkeep];
  const acts = [...troubles, ...rebootsOf(seeded, isQuiet), ...words, ...nuisancesOf(seeded), ...lateActs];
  const whens = acts.filter(({ kind }) => kind === "word").map(({ atMs }) => atMs);
  const drawn = Array.from({ length: seeded.whole(0, 6) }, () =>
    isQuiet ? gateFaultOf(seeded) : faultOf(seeded, whens),
  );
  const faults = [...drawn, ...ends.flatMap((end) => end.faults)];
  const overMs = [...acts, ...faults].map((one) => one.atMs + ("forMs" in one ? one.forMs : 0));
  return {
    kind: "guard",
    seed,
    guards: seeded.whole(1, 3),
    acts: acts.toSorted((one, other) => one.atMs - other.atMs),
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
    calmAtMs: Math.max(endMs, ...overMs),
  };
}

function troublesOf(seeded: Seeded): ClusterAct[] {
  const acts: ClusterAct[] = [];
  if (seeded.chance(0.6))
    acts.push({
      kind: "avalanche",
      atMs: seeded.between(500, 10_000),
      pods: seeded.chance(0.1) ? seeded.whole(130, 160) : seeded.whole(20, 36),
      everyMs: seeded.pick([50, 150, 1_500]),
      hasVictims: seeded.chance(0.6),
    });
  if (seeded.chance(0.3)) acts.push({ kind: "runaway", atMs: seeded.between(500, 30_000), pods: seeded.whole(20, 30) });
  return acts;
}

function rebootsOf(seeded: Seeded, isQuiet: boolean): ClusterAct[] {
  return simNodes
    .filter(() => seeded.chance(isQuiet ? 0.8 : 0.4))
    .map((node) => ({ kind: "reboot-due" as const, atMs: seeded.between(500, 150_000), node }));
}

/** A node may be due when trouble has lasted for longer than any guard could miss it. */
function lateReboot(seeded: Seeded): ClusterAct[] {
  if (!seeded.chance(lateRebootShare)) return [];
  return [{ kind: "reboot-due", atMs: seeded.between(300_000, 420_000), node: seeded.pick(simNodes) }];
}

/** What comes while a plan ends, two or three minutes after the beginning. */
type PlanEnd = Pick<GuardStory, "acts" | "faults">;

/** At its end a plan asks what people outside see. */
function outsideOf(seeded: Seeded): PlanEnd {
  const atMs = seeded.between(proposedMs, 240_000);
  const forMs = seeded.between(20_000, 300_000);
  const kind = seeded.pick(["probe-fails", "probe-hangs"] as const);
  const away = { atMs: seeded.between(proposedMs, 240_000), forMs: seeded.between(5_000, 120_000) };
  return {
    acts: seeded.chance(siteTroubleShare) ? [{ kind, atMs, forMs }] : [],
    faults: seeded.chance(prometheusAwayShare) ? [{ kind: "prometheus-away", ...away }] : [],
  };
}

/** Before that it restarts workloads. Whoever leads then is killed, and a person lets the next one go on. */
function killOf(seeded: Seeded): PlanEnd {
  const atMs = seeded.between(165_000, 230_000);
  if (!seeded.chance(lateKillShare)) return { acts: [], faults: [] };
  const word = { kind: "word", verdict: "Resume", isStale: false, withdrawAfterMs: undefined } as const;
  const acts = [0, 1].map((pick) => ({ ...word, pick, atMs: seeded.between(235_000, 300_000) }));
  return { acts, faults: [{ kind: "kill-after-change", atMs }] };
}

/** Most people approve soon after the proposal; some change their mind, or speak of a plan that is gone. */
function wordsOf(seeded: Seeded): ClusterAct[] {
  return Array.from({ length: seeded.whole(2, 9) }, (_, number) => ({
    kind: "word" as const,
    atMs: seeded.between(proposedMs, seeded.chance(0.7) ? proposedMs + 60_000 : endMs),
    verdict: seeded.chance(0.62) ? ("Approve" as const) : seeded.pick(otherVerdicts),
    pick: number,
    isStale: seeded.chance(0.08),
    withdrawAfterMs: seeded.chance(0.12) ? seeded.between(100, 40_000) : undefined,
  }));
}

function nuisancesOf(seeded: Seeded): ClusterAct[] {
  return Array.from({ length: seeded.whole(0, 4) }, () => {
    const atMs = seeded.between(1_000, endMs);
    const forMs = seeded.chance(0.4) ? seeded.between(200, 8_000) : longOf(seeded, 120_000);
    const node = seeded.pick(simNodes);
    const pick = seeded.whole(0, 40);
    const kind = seeded.pick([
      ...(["alert", "alertmanager-away", "policy-away", "node-down", "cordon"] as const),
      ...(["daemon-silent", "swap-pod", "start-pod"] as const),
    ]);
    if (kind === "swap-pod" || kind === "start-pod") return { kind, atMs, pick };
    return kind === "node-down" || kind === "cordon" || kind === "daemon-silent"
      ? { kind, atMs, forMs, node }
      : { kind, atMs, forMs };
  });
}

/** A gate is closed by what lasts: half of these outlast a verdict. */
function gateFaultOf(seeded: Seeded): GuardFault {
  const atMs = seeded.between(1_000, endMs);
  if (seeded.chance(0.2)) return { kind: seeded.pick(instants), atMs };
  const forMs = seeded.chance(0.5) ? seeded.between(120_000, 300_000) : seeded.between(500, 60_000);
  return { kind: seeded.pick(gateSpells), atMs, forMs };
}

/** A few outlast every limit that the guard has. */
function longOf(seeded: Seeded, usualMs: number): number {
  return seeded.chance(0.2) ? seeded.between(150_000, 300_000) : seeded.between(500, usualMs);
}

/** Most faults come while a Decision is carried out: at other times there is little that they can hit. */
function faultOf(seeded: Seeded, wordsMs: readonly number[]): GuardFault {
  const near = wordsMs[seeded.whole(0, wordsMs.length - 1)];
  const isNear = near !== undefined && seeded.chance(0.7);
  const atMs = isNear ? near + seeded.between(0, 40_000) : seeded.between(1_000, endMs);
  if (seeded.chance(0.5)) return { kind: seeded.pick(instants), atMs };
  const forMs = seeded.chance(0.5) ? seeded.between(8_000, 30_000) : longOf(seeded, 90_000);
  return { kind: seeded.pick(spells), atMs, forMs };
}
