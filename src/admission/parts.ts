import type { Clock } from "../base/clock.ts";
import type { AdmissionLimits } from "./admission-limits.ts";
import { Bulkhead } from "./line/bulkhead.ts";
import type { Blocker } from "./rulings.ts";
import { PluginMemory } from "./load/plugin-memory.ts";
import { PluginTimes } from "./load/plugin-times.ts";
import { ExpectedPods } from "./expected-pods.ts";
import { Hurry } from "./line/hurry.ts";
import { Line, type LineRules } from "./line/line.ts";
import { Patience } from "./line/patience.ts";
import { HostLoad } from "./load/host-load.ts";
import type { Lane } from "./line/lane.ts";
import { AdaptiveLimit, type LimitBounds } from "./load/limit.ts";
import { NetworkBreaker } from "./hold/network-breaker.ts";
import { attachClasses, type AdmissionClass } from "./request.ts";
import { RetryBudget } from "./hold/retry-budget.ts";

/** Few ADDs at once keep two cores busy, and pods wait for them. */
const attachBounds = { floor: 1, busyShare: 1 / 2, strangersShare: 1, growsWhenQuiet: false };
/**
 * So many DELs run under any load: they free what ADDs wait for. On cores that DELs keep busy there are no more, because
 * no user waits for a delete. Plugins that only wait for something may take the whole ceiling.
 */
const detachFloor = 4;

/** A line with its own slots and times, because DELs take other times than ADDs. */
export interface Door {
  readonly limit: AdaptiveLimit;
  readonly line: Line;
  readonly bulkhead: Bulkhead;
  readonly times: PluginTimes;
  readonly patience: Patience;
}

/** The parts of admission. */
export interface Parts {
  readonly clock: Clock;
  readonly limits: AdmissionLimits;
  readonly load: HostLoad;
  readonly memory: PluginMemory;
  readonly breaker: NetworkBreaker;
  readonly budget: RetryBudget;
  readonly expected: ExpectedPods;
  /** Of both lines. */
  readonly hurry: Hurry;
  readonly attach: Door;
  readonly detach: Door;
}

type Learned = Pick<Parts, "load" | "memory" | "breaker" | "expected">;

export function assemble(clock: Clock, limits: AdmissionLimits): Parts {
  const attachLimit = new AdaptiveLimit({ ...attachBounds, ceiling: limits.attachCeiling, start: limits.attachStart });
  const detachLimit = new AdaptiveLimit(detachBounds(limits.detachCeiling));
  const breaker = new NetworkBreaker(clock);
  const learned = {
    breaker,
    load: new HostLoad(attachLimit, detachLimit),
    memory: new PluginMemory(),
    expected: new ExpectedPods(limits.attachCeiling),
  };
  return {
    clock,
    limits,
    ...learned,
    budget: new RetryBudget(clock, limits.holdMsMax),
    hurry: new Hurry(),
    attach: attachDoor(clock, limits, attachLimit, learned),
    detach: detachDoor(clock, limits, detachLimit, learned),
  };
}

function detachBounds(ceiling: number): LimitBounds {
  const shares = { busyShare: detachFloor / ceiling, strangersShare: 1 / 2 };
  return { ceiling, start: detachFloor, floor: detachFloor, ...shares, growsWhenQuiet: true };
}

function attachDoor(clock: Clock, limits: AdmissionLimits, limit: AdaptiveLimit, learned: Learned): Door {
  const { breaker } = learned;
  const times = new PluginTimes(clock);
  const bulkhead = new Bulkhead({
    isOpen: (network) => breaker.isOpen(network),
    hasWorked: (network) => times.knows(network),
    sparesSlots: true,
  });
  const rules: LineRules = {
    classes: attachClasses,
    waitingMax: limits.waitingMax,
    salt: clock.random() * 2 ** 31,
    bulkhead,
    slots: (admissionClass) => attachSlots(admissionClass, limit),
    blocker: (lane, admissionClass) =>
      heldBack(admissionClass, isHeldBack) ?? attachBlocker(lane, admissionClass, learned),
    trouble: (lane) => openNetwork(lane, breaker),
    isHeldUp: () => isHeldBack() || breaker.open().length > 0 || bulkhead.hung > 0,
  };
  const line = new Line(rules);
  const { addQueueMs: queueMs, addDelegatesMs: pluginsMs, addUndoMs: undoMs } = limits;
  return { line, limit, bulkhead, times, patience: new Patience({ queueMs, pluginsMs, undoMs }) };

  function isHeldBack(): boolean {
    return learned.expected.holdsOthers(clock.monotonicMs());
  }
}

/** Neither a failing network nor the daemon's own memory holds DELs back, because they free what ADDs wait for. */
function detachDoor(clock: Clock, limits: AdmissionLimits, limit: AdaptiveLimit, { memory }: Learned): Door {
  const times = new PluginTimes(clock);
  const bulkhead = new Bulkhead({
    isOpen: () => false,
    hasWorked: (network) => times.knows(network),
    // In a drain all DELs may wait for one slow network, and each that hangs has freed its slot.
    sparesSlots: false,
  });
  const rules: LineRules = {
    classes: ["detach"],
    waitingMax: limits.waitingMax,
    salt: clock.random() * 2 ** 31,
    bulkhead,
    slots: () => limit.slots,
    blocker: ({ names }) =>
      line.running < limit.floor || memory.fits(memory.predict(names)) ? undefined : { why: "delegate-memory" },
    trouble: () => undefined,
    isHeldUp: () => bulkhead.hung > 0,
  };
  const line = new Line(rules);
  const patience = new Patience({ queueMs: limits.delQueueMs, pluginsMs: 0, undoMs: 0 });
  return { line, limit, bulkhead, times, patience };
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
