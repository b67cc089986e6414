import type { OpenNetwork } from "./hold/network-breaker.ts";
import type { MemoryState } from "./load/own-memory.ts";
import type { Parts } from "./parts.ts";
import type { PressureLevel } from "./load/pressure.ts";
import { attachClasses, type AdmissionClass } from "./request.ts";

/** The most namespaces shown: people read the first rows, and metrics need bounded labels. */
const flowsMax = 20;

/** The state of admission, for metrics, `levee status` and `levee top`. */
export interface AdmissionFacts {
  /** ADDs that may run at once now, and the most that ever may. */
  readonly limit: number;
  readonly ceiling: number;
  readonly isSlowStart: boolean;
  /** How many DELs may run now. */
  readonly detachLimit: number;
  readonly detachCeiling: number;
  readonly attaching: number;
  readonly detaching: number;
  /** Hung plugins, which hold no slot. */
  readonly hung: number;
  readonly waiting: Readonly<Partial<Record<AdmissionClass, number>>>;
  readonly classes: readonly ClassFacts[];
  /** The longest current wait; 0 when the line is empty. */
  readonly oldestWaitMs: number;
  readonly ownMemory: MemoryState;
  readonly pressure: PressureLevel;
  readonly delegateBytes: number;
  /** Undefined while the runtime's cgroup has no limit. */
  readonly delegateBytesMax: number | undefined;
  readonly heldPods: number;
  readonly openNetworks: readonly OpenNetwork[];
  /** Namespaces with the most calls in line, ADDs and DELs together. */
  readonly flows: readonly { readonly namespace: string; readonly waiting: number }[];
}

interface ClassFacts {
  readonly class: Exclude<AdmissionClass, "exempt">;
  /** Including hung ones. */
  readonly running: number;
  readonly waiting: number;
  /** 0 when no call waits. */
  readonly oldestWaitMs: number;
}

export function admissionFacts(parts: Parts): AdmissionFacts {
  const { attach, detach, load, memory, budget, breaker } = parts;
  const classes: readonly Exclude<AdmissionClass, "exempt">[] = attachClasses;
  return {
    limit: attach.limit.slots,
    ceiling: attach.limit.ceiling,
    isSlowStart: attach.limit.isSlowStart,
    detachLimit: detach.limit.slots,
    detachCeiling: detach.limit.ceiling,
    attaching: attach.line.running,
    detaching: detach.line.running,
    hung: attach.bulkhead.hung + detach.bulkhead.hung,
    waiting: {
      detach: detach.line.waiting,
      ...Object.fromEntries(classes.map((name) => [name, attach.line.waitingIn(name)])),
    },
    classes: [...classes, "detach" as const].map((name) => classFacts(parts, name)),
    oldestWaitMs: oldestWaitMs(parts),
    ownMemory: load.memory,
    pressure: load.pressure,
    delegateBytes: memory.runningBytes,
    delegateBytesMax: Number.isFinite(memory.roomBytes) ? memory.roomBytes : undefined,
    heldPods: budget.heldCount,
    openNetworks: breaker.open(),
    flows: longestFlows(parts),
  };
}

function classFacts({ clock, attach, detach }: Parts, name: ClassFacts["class"]): ClassFacts {
  const { line } = name === "detach" ? detach : attach;
  const oldest = line.arrivals.oldestIn(name);
  return {
    class: name,
    running: line.runningIn(name),
    waiting: line.waitingIn(name),
    oldestWaitMs: oldest === undefined ? 0 : clock.monotonicMs() - oldest.sinceMs,
  };
}

function oldestWaitMs({ clock, attach, detach }: Parts): number {
  const since = [attach, detach].flatMap(({ line }) => line.arrivals.oldest?.sinceMs ?? []);
  return since.length === 0 ? 0 : clock.monotonicMs() - Math.min(...since);
}

function longestFlows({ attach, detach }: Parts): AdmissionFacts["flows"] {
  const sums = new Map<string, number>();
  for (const { namespace, waiting } of [...attach.line.flows(), ...detach.line.flows()]) {
    sums.set(namespace, (sums.get(namespace) ?? 0) + waiting);
  }
  return [...sums]
    .map(([namespace, waiting]) => ({ namespace, waiting }))
    .toSorted((left, right) => right.waiting - left.waiting || (left.namespace < right.namespace ? -1 : 1))
    .slice(0, flowsMax);
}
