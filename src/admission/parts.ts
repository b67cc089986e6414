import type { Clock } from "../base/clock.ts";
import type { AdmissionLimits } from "./admission-limits.ts";
import { Bulkhead } from "./line/bulkhead.ts";
import type { Blocker } from "./rulings.ts";
import { PluginMemory } from "./load/plugin-memory.ts";
import { PluginTimes } from "./load/plugin-times.ts";
import { ExpectedPods } from "./expected-pods.ts";
import { Line, type LineRules } from "./line/line.ts";
import { Patience } from "./line/patience.ts";
import { HostLoad } from "./load/host-load.ts";
import type { Lane } from "./line/lane.ts";
import { AdaptiveLimit } from "./load/limit.ts";
import { NetworkBreaker } from "./hold/network-breaker.ts";
import { attachClasses, type AdmissionClass } from "./request.ts";
import { RetryBudget } from "./hold/retry-budget.ts";

/** A line with its own slots and times, because DELs take other times than ADDs. */
export interface Door {
  readonly line: Line;
  readonly bulkhead: Bulkhead;
  readonly times: PluginTimes;
  readonly patience: Patience;
}

/** The parts of admission. */
export interface Parts {
  readonly clock: Clock;
  readonly limits: AdmissionLimits;
  readonly limit: AdaptiveLimit;
  readonly load: HostLoad;
  readonly memory: PluginMemory;
  readonly breaker: NetworkBreaker;
  readonly budget: RetryBudget;
  readonly expected: ExpectedPods;
  readonly attach: Door;
  readonly detach: Door;
}

type Learned = Pick<Parts, "limit" | "load" | "memory" | "breaker" | "expected">;

export function assemble(clock: Clock, limits: AdmissionLimits): Parts {
  const limit = new AdaptiveLimit(limits.attachCeiling, limits.attachStart);
  const breaker = new NetworkBreaker(clock);
  const learned = {
    limit,
    breaker,
    load: new HostLoad(limit),
    memory: new PluginMemory(),
    expected: new ExpectedPods(limits.attachCeiling),
  };
  return {
    clock,
    limits,
    ...learned,
    budget: new RetryBudget(clock, limits.holdMsMax),
    attach: attachDoor(clock, limits, learned),
    detach: detachDoor(clock, limits),
  };
}

function attachDoor(clock: Clock, limits: AdmissionLimits, learned: Learned): Door {
  const { breaker } = learned;
  const times = new PluginTimes(clock);
  const bulkhead = new Bulkhead({
    isOpen: (network) => breaker.isOpen(network),
    hasWorked: (network) => times.knows(network),
  });
  const rules: LineRules = {
    classes: attachClasses,
    waitingMax: limits.waitingMax,
    salt: clock.random() * 2 ** 31,
    bulkhead,
    slots: (admissionClass) => attachSlots(admissionClass, learned.limit),
    blocker: (lane, admissionClass) =>
      heldBack(admissionClass, isHeldBack) ?? attachBlocker(lane, admissionClass, learned),
    trouble: (lane) => openNetwork(lane, breaker),
    isHeldUp: () => isHeldBack() || breaker.open().length > 0 || bulkhead.hung > 0,
  };
  const line = new Line(rules);
  const { addQueueMs: queueMs, addDelegatesMs: pluginsMs, addUndoMs: undoMs } = limits;
  return { line, bulkhead, times, patience: new Patience({ queueMs, pluginsMs, undoMs }) };

  function isHeldBack(): boolean {
    return learned.expected.holdsOthers(clock.monotonicMs());
  }
}

/** Only the ceiling limits DELs, because they free what ADDs wait for. */
function detachDoor(clock: Clock, limits: AdmissionLimits): Door {
  const times = new PluginTimes(clock);
  const bulkhead = new Bulkhead({ isOpen: () => false, hasWorked: (network) => times.knows(network) });
  const rules: LineRules = {
    classes: ["detach"],
    waitingMax: limits.waitingMax,
    salt: clock.random() * 2 ** 31,
    bulkhead,
    slots: () => limits.detachCeiling,
    blocker: () => undefined,
    trouble: () => undefined,
    isHeldUp: () => bulkhead.hung > 0,
  };
  const patience = new Patience({ queueMs: limits.delQueueMs, pluginsMs: 0, undoMs: 0 });
  return { line: new Line(rules), bulkhead, times, patience };
}

/**
 * A critical pod may exceed the limit by one, but never the ceiling, because slow plugins of others end at some point.
 */
function attachSlots(admissionClass: AdmissionClass, { slots, ceiling }: AdaptiveLimit): number {
  return admissionClass === "critical" ? Math.min(slots + 1, ceiling) : slots;
}

function heldBack(admissionClass: AdmissionClass, isHeldBack: () => boolean): Blocker | undefined {
  return admissionClass !== "critical" && isHeldBack() ? { why: "critical-expected" } : undefined;
}

function attachBlocker(lane: Lane, admissionClass: AdmissionClass, learned: Learned): Blocker | undefined {
  const { load, memory, breaker } = learned;
  if (load.memory === "exhausted") return { why: "own-memory" };
  const isKept = admissionClass !== "critical" || lane.isRetry;
  const network = isKept ? lane.names.find((name) => !breaker.admits(name)) : undefined;
  if (network !== undefined) return { why: "network-open", network };
  return memory.fits(memory.predict(lane.names)) ? undefined : { why: "delegate-memory" };
}

function openNetwork({ names }: Lane, breaker: NetworkBreaker): Blocker | undefined {
  const network = names.find((name) => breaker.isOpen(name));
  return network === undefined ? undefined : { why: "network-open", network, reason: breaker.reason(network) ?? "" };
}
