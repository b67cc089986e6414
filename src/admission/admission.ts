import type { Clock } from "../base/clock.ts";
import type { LeveeError } from "../base/errors.ts";
import type { Departure } from "../base/given-up.ts";
import { defaultLimits, type AdmissionLimits } from "./admission-limits.ts";
import {
  describeBlocker,
  fullError,
  heldError,
  memoryError,
  supersededError,
  type Ruling,
  type RulingKind,
  type WaitView,
} from "./rulings.ts";
import { admissionFacts, type AdmissionFacts } from "./facts.ts";
import { findHold } from "./hold/find-hold.ts";
import type { LoadFacts } from "./load/host-load.ts";
import { noLane } from "./line/lane.ts";
import { assemble, type Door, type Parts } from "./parts.ts";
import { PermitBooks } from "./permit-books.ts";
import { Permit } from "./permit.ts";
import { classOf, isCriticalPriority, type AdmissionRequest, type ClassRules } from "./request.ts";
import type { Failure, FailuresView, HeldPod } from "./hold/retry-budget.ts";
import { RulingEmitter } from "./ruling-emitter.ts";
import { Sweep } from "./sweep.ts";
import { Waiting, type WaitingOwner } from "./line/waiting.ts";

interface AdmissionOptions {
  readonly clock: Clock;
  readonly limits?: Partial<AdmissionLimits>;
  /** Called with every ruling, for metrics, the log and `levee why`. It must not throw. */
  readonly onRuling?: (ruling: Ruling) => void;
}

/** Decides which call goes next and how many run at once, so that no storm takes the node's networking down. */
export class Admission implements WaitingOwner {
  readonly #parts: Parts;
  readonly #books: PermitBooks;
  readonly #rulings: RulingEmitter;
  /** ADDs in line, at most one per pod. */
  readonly #byPod = new Map<string, Waiting>();
  readonly #classRules: ClassRules;
  readonly #sweep: Sweep;

  constructor({ clock, limits = {}, onRuling = () => undefined }: AdmissionOptions) {
    this.#parts = assemble(clock, { ...defaultLimits, ...limits });
    const { budget } = this.#parts;
    this.#classRules = { ...this.#parts.limits, isOverBudget: (pod, wants) => budget.isOver(pod, wants) };
    this.#rulings = new RulingEmitter(clock, onRuling);
    this.#books = new PermitBooks(this.#parts, this.#rulings, () => this.#pump());
    this.#sweep = new Sweep(this.#parts, {
      turnAway: (waiting, what, detail, error) => this.#turnAway(waiting, what, detail, error),
      pump: () => this.#pump(),
    });
  }

  /**
   * Waits for a slot. Rejects with "try-later" when the wait is over or the pod is held, with the signal's reason when
   * the caller leaves, and with "cancelled" when the same pod comes again. Dispose the permit on every path.
   */
  admit(request: AdmissionRequest, signal: Departure): Promise<Permit> {
    try {
      signal.throwIfAborted();
      return this.#enter(request, signal);
    } catch (thrown) {
      // Not async: the extra promise and frame would double the memory of a request in line.
      return Promise.reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }

  /** Throws when the pod is held, before anything is looked up for it. */
  refuseHeld(request: AdmissionRequest): void {
    const hold = findHold(request, this.#parts, this.#classRules);
    if (hold === undefined) return;
    const leftMs = hold.untilMs - this.#parts.clock.monotonicMs();
    this.#rulings.emit("held", { request, admissionClass: classOf(request, this.#classRules) }, hold.failure.reason);
    throw heldError(hold, leftMs);
  }

  /** Records a failure before any permit, such as an invalid annotation. */
  charge(request: Pick<AdmissionRequest, "pod" | "wants">, failure: Failure): void {
    this.#books.charge(request, failure);
  }

  /** The view has learned the pod's priority while its ADD waits. */
  prioritize(pod: string, priority: number | undefined): void {
    const waiting = this.#byPod.get(pod);
    if (waiting === undefined || waiting.admissionClass === "critical" || !isCriticalPriority(priority)) return;
    this.#parts.attach.line.upgrade(waiting, "critical");
    this.#rulings.emit("upgraded", waiting, `priority ${priority ?? ""}`);
    this.#pump();
  }

  /** The node got a new pod, which has no network yet. Only critical pods count. */
  expect(pod: string, priority: number | undefined): void {
    if (isCriticalPriority(priority)) this.#parts.expected.expect(pod, this.#parts.clock.monotonicMs());
  }

  /** The pod runs, is gone, or uses the node's own network. */
  unexpect(pod: string): void {
    if (this.#parts.expected.forget(pod)) this.#pump();
  }

  /** The runtime waits until all its calls have ended, because a conf changed. So those in line leave soon. */
  hurry(): void {
    this.#parts.hurry.begin(this.#parts.clock.monotonicMs());
  }

  /** How long the plugins of an ADD with so much time left may take together. */
  pluginsMs(leftMs: number): number {
    const { load, limits } = this.#parts;
    return Math.min(load.isSlow ? Infinity : limits.addDelegatesMs, leftMs - limits.addUndoMs);
  }

  /** Whether ADDs are held back for critical pods, which makes the load interesting. */
  get isHolding(): boolean {
    return this.#parts.expected.isHolding;
  }

  /** Takes the load of the daemon and the host, about once a second, and more often while ADDs are held back. */
  observe(facts: LoadFacts): void {
    const { load, expected, clock } = this.#parts;
    load.observe(facts, clock.monotonicMs());
    expected.observed(load.hasSpareCores);
    this.#pump();
  }

  /** Whether a network fails for every pod, so that only probes may use it. */
  isFailing(network: string): boolean {
    return this.#parts.breaker.isOpen(network);
  }

  /** Why a pod's ADD waits; undefined when it does not. */
  why(pod: string): WaitView | undefined {
    const waiting = this.#byPod.get(pod);
    return waiting === undefined ? undefined : this.#parts.attach.line.view(waiting, this.#parts.clock.monotonicMs());
  }

  /** The usual time of a network's plugins in an ADD, or in a DEL. */
  usualMs(network: string, kind: "attach" | "detach" = "attach"): number {
    return this.#parts[kind].times.medianMs(network);
  }

  /** The pod's consecutive failures and its next try; undefined without a failure. */
  failuresOf(pod: string): FailuresView | undefined {
    return this.#parts.budget.failuresOf(pod);
  }

  holds(max: number): readonly HeldPod[] {
    return this.#parts.budget.holds(max);
  }

  facts(): AdmissionFacts {
    return admissionFacts(this.#parts);
  }

  /** The caller of a waiting request is gone. */
  abandoned(waiting: Waiting): void {
    this.#leave(waiting);
    this.#rulings.emit("cancelled", waiting, "the caller went away");
    waiting.abort();
    // Its lane may have kept another one from borrowing slots.
    this.#pump();
  }

  #enter(request: AdmissionRequest, signal: Departure): Promise<Permit> {
    const sinceMs = this.#parts.clock.monotonicMs();
    const admissionClass = classOf(request, this.#classRules);
    if (admissionClass === "exempt") {
      return Promise.resolve(new Permit(undefined, { request, admissionClass, lane: noLane, sinceMs, bytes: 0 }));
    }
    if (admissionClass !== "detach") this.#refuseAtOnce(request, admissionClass);
    // Supersede first: a lane is forgotten when its last request leaves the line.
    this.#supersede(request);
    const { bulkhead, patience } = this.#door(request);
    const lane = bulkhead.lane(request.networks, request.isRetry);
    const untilMs = sinceMs + patience.waitMs(request);
    this.#parts.hurry.joined(request, sinceMs);
    const waiting = new Waiting(this, { request, lane, sinceMs, untilMs, admissionClass }, signal);
    this.#join(waiting);
    return waiting.promise;
  }

  #refuseAtOnce(request: AdmissionRequest, admissionClass: Waiting["admissionClass"]): void {
    if (admissionClass === "critical") return;
    this.refuseHeld(request);
    if (this.#parts.load.memory !== "exhausted") return;
    this.#rulings.emit("refused", { request, admissionClass }, describeBlocker({ why: "own-memory" }));
    throw memoryError(request);
  }

  #join(waiting: Waiting): void {
    const { line } = this.#door(waiting.request);
    const victim = line.makesRoom(waiting);
    line.join(waiting);
    if (waiting.request.kind === "attach" && waiting.request.pod !== "") this.#byPod.set(waiting.request.pod, waiting);
    this.#pump();
    if (waiting.isSettled) return;
    if (victim !== undefined) this.#refuse(victim === "newcomer" ? waiting : victim);
    if (waiting.isSettled) return;
    waiting.listen();
    this.#rulings.emit("queued", waiting, describeBlocker(line.blocker(waiting)));
    this.#sweep.later();
  }

  #refuse(waiting: Waiting): void {
    if (waiting.isSettled) return;
    const { waiting: inLine, msPerCall } = this.#door(waiting.request).line;
    this.#turnAway(waiting, "refused", "the line is full", fullError(waiting.request, inLine - 1, msPerCall));
  }

  #supersede(request: AdmissionRequest): void {
    const earlier = request.kind === "attach" ? this.#byPod.get(request.pod) : undefined;
    if (earlier === undefined) return;
    this.#turnAway(earlier, "superseded", "the runtime asked again for the same pod", supersededError());
  }

  #turnAway(waiting: Waiting, what: RulingKind, detail: string, error: LeveeError): void {
    this.#leave(waiting);
    this.#rulings.emit(what, waiting, detail);
    waiting.refuse(error);
  }

  #leave(waiting: Waiting): void {
    this.#door(waiting.request).line.leave(waiting);
    if (this.#byPod.get(waiting.request.pod) === waiting) this.#byPod.delete(waiting.request.pod);
  }

  #pump(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const { line } of [this.#parts.detach, this.#parts.attach])
      for (let next = line.next(); next !== undefined; next = line.next()) this.#grant(next, nowMs);
  }

  #grant(waiting: Waiting, nowMs: number): void {
    const { memory, breaker } = this.#parts;
    const { request, admissionClass, lane } = waiting;
    if (this.#byPod.get(request.pod) === waiting) this.#byPod.delete(request.pod);
    if (request.kind === "attach") for (const name of lane.names) breaker.tried(name);
    const bytes = memory.predict(lane.names);
    memory.taken(bytes);
    if (request.kind === "attach") this.#parts.expected.granted(nowMs, admissionClass === "critical");
    this.#rulings.emit("admitted", waiting, "");
    waiting.grant(new Permit(this.#books, { request, admissionClass, lane, sinceMs: nowMs, bytes }));
  }

  #door(request: AdmissionRequest): Door {
    return request.kind === "detach" ? this.#parts.detach : this.#parts.attach;
  }
}
