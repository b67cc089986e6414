import { VirtualClock } from "../base/virtual-clock.fixture.ts";
import type { AdmissionLimits } from "./admission-limits.ts";
import { Admission } from "./admission.ts";
import type { Ruling } from "./rulings.ts";
import type { PluginRun, Permit } from "./permit.ts";
import type { AdmissionRequest } from "./request.ts";

export const never = new AbortController().signal;
export const mib = 2 ** 20;

export function attachRequest(facts: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return { kind: "attach", namespace: "a", pod: "a/1", priority: 0, networks: ["primary"], wants: () => "", ...facts };
}

export function detachRequest(facts: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return attachRequest({ kind: "detach", ...facts });
}

export function okRun(facts: Partial<PluginRun> = {}): PluginRun {
  return {
    network: "primary",
    tookMs: 50,
    result: "ok",
    peakBytes: 10 * mib,
    cgroup: { limitBytes: undefined, usageBytes: undefined },
    isOomKilled: false,
    ...facts,
  };
}

export interface Node {
  readonly clock: VirtualClock;
  readonly admission: Admission;
  readonly rulings: Ruling[];
}

export function node(limits: Partial<AdmissionLimits> = {}, seed = 1): Node {
  const clock = new VirtualClock(seed);
  const rulings: Ruling[] = [];
  const admission = new Admission({ clock, limits, onRuling: (ruling) => void rulings.push(ruling) });
  return { clock, admission, rulings };
}

/** The state of a request: its permit, its error, or neither while it waits. */
interface Asked {
  permit: Permit | undefined;
  error: Error | undefined;
}

/** Requests a slot without waiting, so that a test can look at the request at any time. */
export function requestSlot(admission: Admission, request: AdmissionRequest, signal: AbortSignal = never): Asked {
  const asked: Asked = { permit: undefined, error: undefined };
  admission.admit(request, signal).then(
    (permit) => {
      asked.permit = permit;
    },
    (thrown: unknown) => {
      asked.error = thrown as Error;
    },
  );
  return asked;
}

/** A node whose plugins share its cores, so a run takes longer the more plugins run. */
export class Storm {
  readonly clock: VirtualClock;
  readonly admission: Admission;
  readonly attached: { readonly pod: string; readonly atMs: number; readonly waitedMs: number }[] = [];
  readonly refused: { readonly pod: string; readonly reason: string }[] = [];
  readonly #aloneMs: number;
  readonly #cores: number;
  readonly #strangers: number;
  /** How many times longer than alone a run takes. */
  slowness = 1;
  #busy = 0;

  /** `strangers` are other busy processes. Each takes as much of the cores as one plugin. */
  constructor(node: Node, { aloneMs = 30, cores = 2, strangers = 0 } = {}) {
    this.clock = node.clock;
    this.admission = node.admission;
    this.#aloneMs = aloneMs;
    this.#cores = cores;
    this.#strangers = strangers;
  }

  /** One pod's ADD as kubelet sees it: it retries 10 to 15 s after each refusal until it succeeds. */
  async pod(request: AdmissionRequest): Promise<void> {
    const arrivedMs = this.clock.monotonicMs();
    for (;;) {
      try {
        using permit = await this.admission.admit(request, never);
        await this.#run(permit);
        const atMs = this.clock.monotonicMs();
        this.attached.push({ pod: request.pod, atMs, waitedMs: atMs - arrivedMs });
        return;
      } catch (thrown) {
        this.refused.push({ pod: request.pod, reason: (thrown as Error).message });
        await this.clock.sleep(10_000 + 5_000 * this.clock.random());
      }
    }
  }

  async #run(permit: Permit): Promise<void> {
    for (const network of permit.request.networks) {
      permit.started(network);
      this.#busy += 1;
      const tookMs = this.#aloneMs * this.slowness * Math.max(1, (this.#busy + this.#strangers) / this.#cores);
      await this.clock.sleep(tookMs);
      this.#busy -= 1;
      permit.ran(okRun({ network, tookMs, cpuMs: this.#aloneMs }));
    }
    permit.settle("ok");
  }
}
