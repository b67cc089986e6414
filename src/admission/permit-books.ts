import type { Door, Parts } from "./parts.ts";
import type { PluginRun, Idle, Permit, PermitOwner, Settlement } from "./permit.ts";
import type { AdmissionRequest } from "./request.ts";
import type { Failure } from "./hold/retry-budget.ts";
import type { RulingEmitter } from "./ruling-emitter.ts";

/** The pod that pays for a failure. Its namespace matters only when a plugin failed. */
type Charged = Pick<AdmissionRequest, "pod" | "wants"> & Partial<Pick<AdmissionRequest, "namespace">>;

/** A hung plugin takes more than this many times its usual time. */
const hungMedians = 5;
/** And it has used no CPU for this long. A busy plugin is slow because of load, and must keep its slot. */
const hungIdleMs = 1_000;

/** Keeps the books of permits: the reports of their holders change the limit, shares, retry budgets and networks. */
export class PermitBooks implements PermitOwner {
  readonly #parts: Parts;
  readonly #rulings: RulingEmitter;
  readonly #freed: () => void;

  /** Calls `freed` when a request in line may be able to go. */
  constructor(parts: Parts, rulings: RulingEmitter, freed: () => void) {
    this.#parts = parts;
    this.#rulings = rulings;
    this.#freed = freed;
  }

  nowMs(): number {
    return this.#parts.clock.monotonicMs();
  }

  /** A network that has not worked yet has no usual time, so its plugin loses the slot as soon as it sleeps. */
  hangs(permit: Permit, { idleMs, plugin }: Idle): boolean {
    const { running } = permit;
    const { line, times, limit } = this.#door(permit);
    if (running === undefined || idleMs < hungIdleMs) return false;
    const isSlow = !times.knows(running.network) || this.#isPastUsual(permit);
    if (!isSlow || !line.hung(permit, running.network, plugin)) return false;
    if (permit.request.kind === "detach") limit.idled();
    this.#keep(permit, Math.min(permit.bytes, this.#parts.memory.predictHung(running.network)));
    this.#rulings.emit(
      "hung",
      permit,
      `${running.network}: ${this.#idleText(permit, { idleMs, plugin })}`,
      running.network,
    );
    return true;
  }

  /**
   * Blames the network early: a plugin that hangs forever fails only after half a minute, when the line would be full.
   */
  blames(permit: Permit, idle: Idle): boolean {
    const { running, request } = permit;
    if (running === undefined || request.kind !== "attach" || !this.#isPastUsual(permit)) return false;
    this.#networkFailed(running.network, request.pod, this.#idleText(permit, idle));
    return true;
  }

  /** A slow node gives plugins more time than usual, but a plugin that hangs needs none of it. */
  stillHangs(permit: Permit): void {
    const { kind, hand } = permit.request;
    if (kind === "attach" && this.#ranMs(permit) > this.#parts.limits.addDelegatesMs) hand?.killAll();
  }

  leftCount(): void {
    this.#freed();
  }

  movesAgain(permit: Permit): void {
    const network = permit.hungNetwork;
    if (network === undefined) return;
    this.#door(permit).line.rejoined(permit, network);
    this.#keep(permit, permit.bytes);
    this.#rulings.emit("moves-again", permit, network);
  }

  ran(permit: Permit, run: PluginRun, hasHung: boolean): void {
    const { memory } = this.#parts;
    if (run.peakBytes !== undefined) memory.ran(run.network, run.peakBytes);
    memory.observed(run.cgroup);
    if (run.isOomKilled) {
      this.#door(permit).limit.killed();
      this.#rulings.emit("oom-killed", permit, run.network);
    }
    // The time of an undo says nothing about ADDs.
    if (run.isUndo !== true) {
      this.#learn(permit, run, hasHung);
      if (run.result === "ok") this.#networkWorks(permit, run.network);
    }
    this.#freed();
  }

  settled(permit: Permit, settlement: Settlement): void {
    if (permit.request.kind !== "attach") return;
    const { budget, expected } = this.#parts;
    if (settlement === "ok") {
      budget.succeeded(permit.request.pod);
      expected.attached(permit.request.pod, this.nowMs());
    } else {
      expected.forget(permit.request.pod);
      this.charge(permit.request, settlement);
      this.#rulings.emit("charged", permit, settlement.reason);
    }
  }

  released(permit: Permit): void {
    if (permit.hungNetwork !== undefined) this.#rulings.emit("moves-again", permit, permit.hungNetwork);
    this.#door(permit).line.ended(permit, this.nowMs());
    this.#keep(permit, 0);
    this.#freed();
  }

  /** Counts a failure for the pod, and for the network if a network failed. */
  charge({ pod, wants, namespace = "" }: Charged, told: Failure): void {
    const { budget } = this.#parts;
    const failure = this.#judged(namespace, told);
    if (pod !== "" && wants !== undefined) budget.failed(pod, wants, failure);
    if (failure.cause === "network" && failure.network !== undefined) {
      this.#networkFailed(failure.network, pod, failure.reason);
    }
  }

  /** Without the plugin's answer, which decides whether the network or the pod failed and may be long. */
  #judged(namespace: string, { answer, ...failure }: Failure): Failure {
    const { network } = failure;
    if (answer === undefined || network === undefined) return failure;
    return this.#parts.breaker.counts(network, namespace, answer) ? failure : { ...failure, cause: "values" };
  }

  /**
   * A failed run says nothing about the usual time, but a run that was busy until its deadline does. A hung run counts
   * only if it is the first success of its network: some plugins always sleep for seconds.
   */
  #learn(permit: Permit, run: PluginRun, hasHung: boolean): void {
    if (run.result === "failed") return;
    const { line, times, limit } = this.#door(permit);
    if (hasHung) {
      if (run.result === "ok" && !times.knows(run.network)) times.ran(run.network, run.tookMs, line.running);
      return;
    }
    if (run.result === "ok") times.ran(run.network, run.tookMs, line.running);
    const baselineMs = times.baselineMs(run.network);
    if (baselineMs !== undefined) limit.sample(run.tookMs, baselineMs, line.running, run.cpuMs);
  }

  /** Changes the memory that is reserved for its plugins. */
  #keep(permit: Permit, bytes: number): void {
    const { memory } = this.#parts;
    memory.freed(permit.heldBytes);
    memory.taken(bytes);
    permit.heldBytes = bytes;
  }

  #networkFailed(network: string, pod: string, reason: string): void {
    const { breaker, attach } = this.#parts;
    if (!breaker.failed(network, pod, reason)) return;
    attach.bulkhead.look(network);
    this.#rulings.emit("network-opened", undefined, `${network}: ${reason}`);
  }

  #networkWorks(permit: Permit, network: string): void {
    const { breaker, budget, attach } = this.#parts;
    this.#door(permit).bulkhead.worked(network);
    if (permit.request.kind !== "attach" || !breaker.succeeded(network)) return;
    attach.bulkhead.look(network);
    budget.networkRecovered(network);
    this.#rulings.emit("network-closed", undefined, network);
  }

  #isPastUsual(permit: Permit): boolean {
    const { running } = permit;
    if (running === undefined) return false;
    return this.#ranMs(permit) > hungMedians * this.#door(permit).times.medianMs(running.network);
  }

  #ranMs({ running }: Permit): number {
    const nowMs = this.nowMs();
    return nowMs - (running?.sinceMs ?? nowMs);
  }

  #idleText(permit: Permit, { idleMs, plugin }: Idle): string {
    const who = plugin === "" ? "its plugin" : plugin;
    return `${who} has run ${Math.round(this.#ranMs(permit))} ms and used no CPU for ${Math.round(idleMs)} ms`;
  }

  #door(permit: Permit): Door {
    return permit.request.kind === "detach" ? this.#parts.detach : this.#parts.attach;
  }
}
