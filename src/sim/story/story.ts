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
      readonly kind: (typeof spells)[number] | (typeof rareSpells)[number];
      readonly atMs: number;
      readonly forMs: number;
    }
  | {
      readonly kind: "network-hangs" | "network-fails" | "network-half" | "network-del-fails" | "network-slow";
      readonly atMs: number;
      readonly forMs: number;
      readonly network: string;
    };

/** A node whose CPU and memory cost something. */
export interface StoryMachine {
  /** Of the daemon's container. */
  readonly limitMib: number;
  /** Thousandths of a core that the daemon may use; undefined without a limit. */
  readonly cpuMillis: number | undefined;
  /** The setting: a short line is full with few pods. */
  readonly waitingMax: number;
}

/** Everything that happens in a run from outside. It is data, so that a part of it can be left out. */
export interface Story {
  readonly seed: number;
  readonly pods: readonly StoryPod[];
  readonly faults: readonly StoryFault[];
  /** No fault lasts longer than until then. */
  readonly calmAtMs: number;
  /** Without it, CPU and memory cost nothing. */
  readonly machine?: StoryMachine | undefined;
}

export const defaultNetwork = "default-net";
/** How long a node is away when its power is cut. */
export const bootMs = 20_000;
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
/** A disk that says synced and has not. Rare, as some rules are void then; and a server that takes its time. */
const rareSpells = ["disk-lies", "api-slow"] as const;
const tempers = ["network-hangs", "network-fails", "network-half", "network-del-fails", "network-slow"] as const;
const stormMs = 90_000;
/** Stories with hardware have many pods, and take several times as long as others. */
const machineShare = 0.1;
const rareShare = 0.15;
/** Every kind of fault. */
export const faultKinds: ReadonlySet<string> = new Set([...instants, ...spells, ...rareSpells, ...tempers]);
/** A pod is seen within a second, and attached in the next one. */
const busyMs = 1_800;

/** The story of a seed: some pods that come and go, and some faults at random instants. */
export function storyOfSeed(seed: number): Story {
  const seeded = new Seeded(seed).fork("story");
  const machine = machineOf(new Seeded(seed).fork("machine"));
  const usual = seeded.whole(2, seeded.chance(0.2) ? 40 : 12);
  const count = machine === undefined ? usual : seeded.whole(60, 180);
  const pods = Array.from({ length: count }, (_, number) => podOf(seeded, number));
  const usualFaults = Array.from({ length: seeded.whole(0, 8) }, () => faultOf(seeded, whenOf(seeded, pods)));
  const faults = [...usualFaults, ...rareFaults(new Seeded(seed).fork("rare"), pods)];
  const ends = [
    ...faults.map((fault) => fault.atMs + ("forMs" in fault ? fault.forMs : 0)),
    ...pods.map(({ atMs, deleteAtMs = atMs }) => deleteAtMs),
  ];
  return {
    seed,
    pods,
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
    calmAtMs: Math.max(stormMs, ...ends),
    ...(machine === undefined ? {} : { machine }),
  };
}

/** Some stories have hardware: the daemon with the limit of the manifests, and more pods than its line takes. */
function machineOf(seeded: Seeded): StoryMachine | undefined {
  if (!seeded.chance(machineShare)) return undefined;
  return { limitMib: 50, cpuMillis: seeded.chance(0.5) ? 100 : undefined, waitingMax: seeded.whole(16, 48) };
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

/** A lie shows only when the power fails before the next honest sync. */
function rareFaults(seeded: Seeded, pods: readonly StoryPod[]): readonly StoryFault[] {
  if (!seeded.chance(rareShare)) return [];
  const [kind, atMs, forMs] = [seeded.pick(rareSpells), whenOf(seeded, pods), seeded.between(500, 60_000)];
  const isCut = kind === "disk-lies" && seeded.chance(0.7);
  const cut = { kind: "cut-power" as const, atMs: atMs + seeded.between(0, 1.2 * forMs) };
  return [{ kind, atMs, forMs }, ...(isCut ? [cut] : [])];
}

function faultOf(seeded: Seeded, atMs: number): StoryFault {
  const forMs = seeded.between(500, 60_000);
  const kind = seeded.next();
  if (kind < 0.5) return { kind: seeded.pick(instants), atMs };
  if (kind < 0.75) return { kind: seeded.pick(spells), atMs, forMs };
  return { kind: seeded.pick(tempers), atMs, forMs, network: seeded.pick([defaultNetwork, ...storyNetworks]) };
}
