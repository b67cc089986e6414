import type { Blocker, WaitView } from "../rulings.ts";
import { Arrivals } from "./arrivals.ts";
import type { Bulkhead } from "./bulkhead.ts";
import { NamespaceQueue } from "./namespace-queue.ts";
import type { Lane } from "./lane.ts";
import type { Permit } from "../permit.ts";
import type { AdmissionClass } from "../request.ts";
import { ServiceRate } from "./service-rate.ts";
import type { Waiting } from "./waiting.ts";

type QueueClass = Waiting["admissionClass"];

/**
 * After so many grants to higher classes a class gets one, because a stream of critical pods must not starve the
 * others.
 */
const passedOverMax = 8;
/** Weight of the newest call in the average time that a call holds its slot. */
const holdWeight = 0.1;

/** Everything besides the order in line that decides whether a request may go. */
export interface LineRules {
  /** In the order of service. */
  readonly classes: readonly QueueClass[];
  readonly waitingMax: number;
  readonly salt: number;
  readonly bulkhead: Bulkhead;
  /** How many calls may run at once, including a new one of this class. */
  slots(admissionClass: QueueClass): number;
  /** Another reason why a lane may not go. */
  blocker(lane: Lane, admissionClass: QueueClass): Blocker | undefined;
  /** The failing network of a lane, even while the lane may go. */
  trouble(lane: Lane): Blocker | undefined;
  /** Something other than the calls before it keeps calls in line, so its rate says nothing about its length. */
  isHeldUp(): boolean;
}

/** Slots and the line in front of them. ADDs have one, DELs another. */
export class Line {
  readonly #rules: LineRules;
  readonly #queues: ReadonlyMap<QueueClass, ClassQueue>;
  readonly arrivals = new Arrivals();
  readonly #rate = new ServiceRate();
  readonly #runningIn = new Map<AdmissionClass, number>();
  #running = 0;
  #holdMs: number | undefined;

  constructor(rules: LineRules) {
    this.#rules = rules;
    const { salt } = rules;
    this.#queues = new Map(rules.classes.map((name) => [name, { queue: new NamespaceQueue(salt), passed: 0 }]));
  }

  /** Without hung ones, which hold no slot. */
  get running(): number {
    return this.#running;
  }

  /** Including hung ones. */
  runningIn(admissionClass: AdmissionClass): number {
    return this.#runningIn.get(admissionClass) ?? 0;
  }

  get waiting(): number {
    return this.arrivals.size;
  }

  waitingIn(admissionClass: QueueClass): number {
    return this.#queues.get(admissionClass)?.queue.size ?? 0;
  }

  /** The time from one grant to the next while the line is busy; undefined while unknown. */
  get msPerCall(): number | undefined {
    return this.#rate.msPerCall;
  }

  /** Called at every sweep, for the rate. */
  look(nowMs: number): void {
    this.#rate.look(nowMs, this.arrivals.size > 0 && !this.#rules.isHeldUp());
  }

  flows(): readonly { readonly namespace: string; readonly waiting: number }[] {
    return [...this.#queues.values()].flatMap(({ queue }) => queue.flows());
  }

  join(waiting: Waiting): void {
    this.#rules.bulkhead.joined(waiting.lane);
    this.arrivals.add(waiting);
    this.#queueOf(waiting).queue.push(waiting);
  }

  leave(waiting: Waiting): void {
    if (!this.arrivals.delete(waiting)) return;
    this.#queueOf(waiting).queue.remove(waiting);
    this.#rules.bulkhead.left(waiting.lane);
  }

  /** Moves a request to the end of a higher class. */
  upgrade(waiting: Waiting, admissionClass: QueueClass): void {
    this.#queueOf(waiting).queue.remove(waiting);
    waiting.admissionClass = admissionClass;
    this.#queueOf(waiting).queue.push(waiting);
  }

  /** Takes the next request out of line and counts it as running; undefined when no request may go. */
  next(): Waiting | undefined {
    if (this.arrivals.size === 0) return undefined;
    for (const admissionClass of this.#order()) {
      const entry = this.#queues.get(admissionClass);
      if (entry === undefined || entry.queue.size === 0) continue;
      if (this.#running >= this.#rules.slots(admissionClass)) continue;
      const next = entry.queue.take((lane) => this.#laneBlocker(lane, admissionClass) === undefined);
      if (next === undefined) continue;
      this.#passOver(admissionClass);
      this.#start(next);
      return next;
    }
    return undefined;
  }

  ended(permit: Permit, nowMs: number): void {
    if (permit.hungNetwork !== undefined) this.rejoined(permit, permit.hungNetwork);
    this.#running -= 1;
    this.#runningIn.set(permit.admissionClass, this.runningIn(permit.admissionClass) - 1);
    this.#rules.bulkhead.freed(permit.lane);
    const heldMs = nowMs - permit.sinceMs;
    this.#holdMs = this.#holdMs === undefined ? heldMs : this.#holdMs + holdWeight * (heldMs - this.#holdMs);
  }

  /** Returns false when too many hang already; then the permit keeps its slot. */
  hung(permit: Permit, network: string, plugin: string): boolean {
    if (!this.#rules.bulkhead.hang(permit.lane, network, plugin)) return false;
    this.#running -= 1;
    return true;
  }

  /** May exceed the limit by one for a while. No new request goes until the number has fallen. */
  rejoined(permit: Permit, network: string): void {
    this.#rules.bulkhead.unhang(permit.lane, network);
    this.#running += 1;
  }

  /**
   * The request that must leave when the line is full: the newest of the longest shard in the lowest class, or the
   * newcomer itself if that one deserves its place more. Undefined while there is room.
   */
  makesRoom(newcomer: Waiting): Waiting | "newcomer" | undefined {
    if (this.arrivals.size < this.#rules.waitingMax) return undefined;
    const lowest = this.#rules.classes.findLast((name) => this.waitingIn(name) > 0);
    const queue = lowest === undefined ? undefined : this.#queues.get(lowest)?.queue;
    const victim = queue?.newestOfLongest();
    if (queue === undefined || victim === undefined) return "newcomer";
    const rank = (name: QueueClass): number => this.#rules.classes.indexOf(name);
    const difference = rank(victim.admissionClass) - rank(newcomer.admissionClass);
    if (difference !== 0) return difference > 0 ? victim : "newcomer";
    const isLonger = queue.waitingOf(victim.request.namespace) > queue.waitingOf(newcomer.request.namespace) + 1;
    return isLonger ? victim : "newcomer";
  }

  view(waiting: Waiting, nowMs: number): WaitView {
    const { admissionClass, request, sinceMs, untilMs } = waiting;
    const { queue } = this.#queueOf(waiting);
    const ahead = this.ahead(waiting);
    const slots = Math.max(1, this.#rules.slots(admissionClass));
    const msPerCall = this.msPerCall ?? (this.#holdMs === undefined ? undefined : this.#holdMs / slots);
    return {
      admissionClass,
      waitedMs: nowMs - sinceMs,
      limitMs: untilMs - sinceMs,
      ahead,
      inLine: this.arrivals.size,
      ofItsNamespace: queue.waitingOf(request.namespace),
      namespaces: queue.flowCount,
      expectedMs: msPerCall === undefined ? undefined : msPerCall * (ahead + 1),
      blocker: this.blocker(waiting),
    };
  }

  /** How many requests go before this one, of its own class and of those above. */
  ahead(waiting: Waiting): number {
    const before = this.#rules.classes.slice(0, this.#rules.classes.indexOf(waiting.admissionClass));
    const own = this.#queueOf(waiting).queue.ahead(waiting);
    return before.reduce((sum, name) => sum + this.waitingIn(name), own);
  }

  /** A failing or hung network is the best explanation, even if this request waits for something else right now. */
  blocker(waiting: Waiting): Blocker {
    const { lane, admissionClass } = waiting;
    const lanes = this.#laneBlocker(lane, admissionClass);
    if (lanes !== undefined && lanes.network === undefined) return lanes;
    const cause = this.#hanging(lane) ?? this.#rules.trouble(lane) ?? lanes;
    if (cause !== undefined) return cause;
    return { why: this.#running >= this.#rules.slots(admissionClass) ? "slots" : "turn" };
  }

  #start(waiting: Waiting): void {
    this.#running += 1;
    this.#rate.granted();
    this.#runningIn.set(waiting.admissionClass, this.runningIn(waiting.admissionClass) + 1);
    // Count it before it leaves the line, because a lane without requests and permits is forgotten.
    this.#rules.bulkhead.taken(waiting.lane);
    this.arrivals.delete(waiting);
    this.#rules.bulkhead.left(waiting.lane);
  }

  #hanging(lane: Lane): Blocker | undefined {
    const share = this.#rules.bulkhead.hanging(lane);
    return share === undefined ? undefined : { why: "network-hangs", network: share.name, plugin: share.hungPlugin };
  }

  #laneBlocker(lane: Lane, admissionClass: QueueClass): Blocker | undefined {
    const other = this.#rules.blocker(lane, admissionClass);
    if (other !== undefined) return other;
    const network = this.#rules.bulkhead.full(lane, this.#rules.slots(admissionClass));
    return network === undefined ? undefined : { why: "network-share", network };
  }

  /** By rank, except that a class that was passed over too often goes first. */
  #order(): readonly QueueClass[] {
    const { classes } = this.#rules;
    const starving = classes.find((name) => (this.#queues.get(name)?.passed ?? 0) >= passedOverMax);
    return starving === undefined ? classes : [starving, ...classes.filter((name) => name !== starving)];
  }

  #passOver(granted: QueueClass): void {
    const { classes } = this.#rules;
    for (const [rank, name] of classes.entries()) {
      const entry = this.#queues.get(name);
      if (entry === undefined) continue;
      if (name === granted || entry.queue.size === 0) entry.passed = 0;
      else if (rank > classes.indexOf(granted)) entry.passed += 1;
    }
  }

  #queueOf(waiting: Waiting): ClassQueue {
    const entry = this.#queues.get(waiting.admissionClass);
    if (entry === undefined) throw new Error(`no queue for the class ${waiting.admissionClass}`);
    return entry;
  }
}

interface ClassQueue {
  readonly queue: NamespaceQueue;
  /** Grants to higher classes since the last grant to this one. */
  passed: number;
}
