import type { Door, Parts } from "./parts.ts";
import type { DelegateRun, Permit, PermitOwner, Settlement } from "./permit.ts";
import type { AdmissionRequest } from "./request.ts";
import type { Failure } from "./retry-budget.ts";
import type { Teller } from "./teller.ts";

/** Slower than usual by this much, a delegate is no longer just slow. */
const hungMedians = 5;
/** And it must have used no CPU for this long: a busy one is slow because of the load, which must count. */
const hungIdleMs = 1_000;

/** Keeps the books of permits: what their holders report changes limit, shares, budgets and networks. */
export class PermitBooks implements PermitOwner {
  readonly #parts: Parts;
  readonly #teller: Teller;
  readonly #freed: () => void;

  /** `freed` is called when somebody may be able to go. */
  constructor(parts: Parts, teller: Teller, freed: () => void) {
    this.#parts = parts;
    this.#teller = teller;
    this.#freed = freed;
  }

  nowMs(): number {
    return this.#parts.clock.monotonicMs();
  }

  hangs(permit: Permit, idleMs: number): boolean {
    const { running } = permit;
    const { gate, times } = this.#door(permit);
    if (running === undefined || idleMs < hungIdleMs) return false;
    const ranMs = this.nowMs() - running.sinceMs;
    if (ranMs <= hungMedians * times.medianMs(running.network) || !gate.hung(permit, running.network)) return false;
    const detail = `${running.network} has run ${Math.round(ranMs)} ms and used no CPU for ${Math.round(idleMs)} ms`;
    this.#teller.say("hung", permit, detail);
    // Those that hang for ever fail in half a minute only; by then the line would be full of their like.
    if (permit.request.kind === "attach") this.#networkFailed(running.network, permit.request.pod, detail);
    return true;
  }

  leftCount(): void {
    this.#freed();
  }

  movesAgain(permit: Permit): void {
    const network = permit.hungNetwork;
    if (network === undefined) return;
    this.#door(permit).gate.rejoined(permit, network);
    this.#teller.say("moves-again", permit, network);
  }

  ran(permit: Permit, run: DelegateRun, hasHung: boolean): void {
    const { memory, limit } = this.#parts;
    if (run.peakBytes !== undefined) memory.ran(run.network, run.peakBytes);
    memory.observed(run.cgroup);
    if (run.isOomKilled) {
      limit.killed();
      this.#teller.say("oom-killed", permit, run.network);
    }
    // Who hung tells nothing of the time it takes, and who undid nothing of ADDs.
    if (!hasHung && run.isUndo !== true) this.#learn(permit, run);
    if (run.result === "ok" && run.isUndo !== true && permit.request.kind === "attach") this.#networkWorks(run.network);
    this.#freed();
  }

  settled(permit: Permit, settlement: Settlement): void {
    if (permit.request.kind !== "attach") return;
    if (settlement === "ok") this.#parts.budget.succeeded(permit.request.pod);
    else {
      this.charge(permit.request, settlement);
      this.#teller.say("charged", permit, settlement.reason);
    }
  }

  released(permit: Permit): void {
    if (permit.hungNetwork !== undefined) this.#teller.say("moves-again", permit, permit.hungNetwork);
    this.#door(permit).gate.ended(permit, this.nowMs());
    this.#parts.memory.freed(permit.bytes);
    this.#freed();
  }

  /** A failure is the pod's, and the network's when it was one. */
  charge({ pod, wants }: Pick<AdmissionRequest, "pod" | "wants">, failure: Failure): void {
    const { budget } = this.#parts;
    if (pod !== "" && wants !== undefined) budget.failed(pod, wants, failure);
    if (failure.cause === "network" && failure.network !== undefined) {
      this.#networkFailed(failure.network, pod, failure.reason);
    }
  }

  /** Who failed tells nothing of the time it takes either; who was busy until its deadline does. */
  #learn(permit: Permit, run: DelegateRun): void {
    if (run.result === "failed") return;
    const { gate, times } = this.#door(permit);
    if (run.result === "ok") times.ran(run.network, run.tookMs, gate.running);
    const baselineMs = times.baselineMs(run.network);
    if (baselineMs === undefined || permit.request.kind !== "attach") return;
    this.#parts.limit.sample(run.tookMs, baselineMs, gate.running);
  }

  #networkFailed(network: string, pod: string, reason: string): void {
    const { breaker, attach } = this.#parts;
    if (!breaker.failed(network, pod, reason)) return;
    attach.bulkhead.look(network, this.nowMs());
    this.#teller.say("network-opened", undefined, `${network}: ${reason}`);
  }

  #networkWorks(network: string): void {
    const { breaker, budget, attach } = this.#parts;
    if (!breaker.succeeded(network)) return;
    attach.bulkhead.look(network, this.nowMs());
    budget.networkRecovered(network);
    this.#teller.say("network-closed", undefined, network);
  }

  #door(permit: Permit): Door {
    return permit.request.kind === "detach" ? this.#parts.detach : this.#parts.attach;
  }
}
