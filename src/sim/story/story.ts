import { Seeded } from "../time/seeded.ts";

/** A pod of a story. */
export interface StoryPod {
  readonly name: string;
  readonly namespace: string;
  readonly isCritical: boolean;
  readonly networks: readonly string[];
  readonly atMs: number;
  /** Undefined for a pod that stays. */
  readonly deleteAtMs: number | undefined;
}

/** Something that goes wrong, at one instant or for a time. */
export type StoryFault =
  | {
      readonly kind: "kill-daemon" | "stop-daemon" | "kill-shim" | "kill-resident" | "cut-power";
      readonly atMs: number;
    }
  | {
      readonly kind: "disk-full" | "disk-slow" | "disk-error" | "api-away" | "api-busy" | "api-stale" | "api-expired";
      readonly atMs: number;
      readonly forMs: number;
    }
  | {
      readonly kind: "network-hangs" | "network-fails" | "network-half" | "network-del-fails" | "network-slow";
      readonly atMs: number;
      readonly forMs: number;
      readonly network: string;
    };

/** Everything that happens in a run from outside. It is data, so that a part of it can be left out. */
export interface Story {
  readonly seed: number;
  readonly pods: readonly StoryPod[];
  readonly faults: readonly StoryFault[];
  /** No fault lasts longer than until then. */
  readonly calmAtMs: number;
}

export const defaultNetwork = "default-net";
export const storyNetworks = ["net-a", "net-b"] as const;

const namespaces = ["tenant-a", "tenant-b", "kube-system"] as const;
const instants = [
  "kill-daemon",
  "kill-daemon",
  "stop-daemon",
  "kill-shim",
  "kill-shim",
  "kill-resident",
  "cut-power",
] as const;
const spells = ["disk-full", "disk-slow", "disk-error", "api-away", "api-busy", "api-stale", "api-expired"] as const;
const tempers = ["network-hangs", "network-fails", "network-half", "network-del-fails", "network-slow"] as const;
const stormMs = 90_000;
/** Every kind of fault. */
export const faultKinds: ReadonlySet<string> = new Set([...instants, ...spells, ...tempers]);
/** A pod is seen within a second, and attached in the next one. */
const busyMs = 1_800;

/** The story of a seed: some pods that come and go, and some faults at random instants. */
export function storyOfSeed(seed: number): Story {
  const seeded = new Seeded(seed).fork("story");
  const count = seeded.whole(2, seeded.chance(0.2) ? 40 : 12);
  const pods = Array.from({ length: count }, (_, number) => podOf(seeded, number));
  const faults = Array.from({ length: seeded.whole(0, 8) }, () => faultOf(seeded, whenOf(seeded, pods)));
  const ends = [
    ...faults.map((fault) => fault.atMs + ("forMs" in fault ? fault.forMs : 0)),
    ...pods.map(({ atMs, deleteAtMs = atMs }) => deleteAtMs),
  ];
  return {
    seed,
    pods,
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
    calmAtMs: Math.max(stormMs, ...ends),
  };
}

function podOf(seeded: Seeded, number: number): StoryPod {
  const namespace = seeded.pick(namespaces);
  // Most come at once, as after a reboot or a rollout.
  const atMs = seeded.chance(0.6) ? seeded.between(3_000, 6_000) : seeded.between(1_000, stormMs);
  return {
    name: `pod-${number}`,
    namespace,
    isCritical: namespace === "kube-system",
    networks: storyNetworks.filter(() => seeded.chance(0.4)),
    atMs,
    deleteAtMs: seeded.chance(0.6) ? atMs + seeded.between(50, 60_000) : undefined,
  };
}

/** Most faults come while a pod is attached or deleted: at other times there is little that they can hit. */
function whenOf(seeded: Seeded, pods: readonly StoryPod[]): number {
  const pod = pods[seeded.whole(0, pods.length - 1)];
  const kind = seeded.next();
  if (pod === undefined || kind < 0.2) return seeded.between(1_000, stormMs);
  const hitMs = kind < 0.5 && pod.deleteAtMs !== undefined ? pod.deleteAtMs : pod.atMs;
  return hitMs + seeded.between(0, busyMs);
}

function faultOf(seeded: Seeded, atMs: number): StoryFault {
  const forMs = seeded.between(500, 60_000);
  const kind = seeded.next();
  if (kind < 0.5) return { kind: seeded.pick(instants), atMs };
  if (kind < 0.75) return { kind: seeded.pick(spells), atMs, forMs };
  return { kind: seeded.pick(tempers), atMs, forMs, network: seeded.pick([defaultNetwork, ...storyNetworks]) };
}
