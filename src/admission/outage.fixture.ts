import { LeveeError } from "../base/errors.ts";
import { VirtualClock } from "../base/virtual-clock.fixture.ts";
import { attachRequest, never, okRun } from "./admission.fixture.ts";
import { Admission } from "./admission.ts";
import { keepTrying } from "./keep-trying.ts";
import type { Permit } from "./permit.ts";
import type { AdmissionRequest } from "./request.ts";

/** The shim's whole time without undo and reply. */
const callMs = 110_000 - 8_000 - 2_000;
const aloneMs = 30;
const cores = 2;
const critical = 2_000_000_000;

interface OutageOptions {
  readonly seed: number;
  readonly outageMs: number;
  readonly ordinary: number;
  readonly critical: number;
  /** When the critical pods arrive. */
  readonly criticalAtMs?: number;
  /** A second network of every pod, as in the bench. */
  readonly networks?: readonly string[];
}

/** A node whose primary network fails at first. Pods retry as kubelet does. */
export class Outage {
  readonly clock: VirtualClock;
  readonly admission: Admission;
  /** Each attached pod, with the time of its attachment after the recovery. */
  readonly attached: { readonly pod: string; readonly afterMs: number; readonly isCritical: boolean }[] = [];
  /** Times of failed tries of the primary. */
  readonly failedAtMs: number[] = [];
  readonly #options: OutageOptions;
  #busy = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
    this.clock = new VirtualClock(options.seed);
    this.admission = new Admission({ clock: this.clock });
  }

  async run(): Promise<void> {
    const { ordinary, outageMs, networks = ["primary"], criticalAtMs = 2_000 } = this.#options;
    for (let pod = 0; pod < ordinary; pod += 1) {
      void this.#pod(attachRequest({ pod: `a/${pod}`, namespace: "a", networks }), this.clock.random() * 1_000);
    }
    for (let pod = 0; pod < this.#options.critical; pod += 1) {
      const request = attachRequest({ pod: `s/${pod}`, namespace: "s", networks, priority: critical });
      void this.#pod(request, criticalAtMs + this.clock.random() * 200);
    }
    await this.clock.advance(outageMs + 60_000);
  }

  /** The slowest critical or ordinary pod, in milliseconds after the recovery. */
  worstMs(isCritical: boolean): number {
    return Math.max(...this.attached.filter((one) => one.isCritical === isCritical).map(({ afterMs }) => afterMs));
  }

  async #pod(request: AdmissionRequest, arrivesMs: number): Promise<void> {
    await this.clock.sleep(arrivesMs);
    for (;;) {
      const endsMs = this.clock.monotonicMs() + callMs;
      const attempts = {
        admission: this.admission,
        clock: this.clock,
        signal: never,
        leftMs: () => endsMs - this.clock.monotonicMs(),
        attempt: (permit: Permit) => this.#attempt(permit),
      };
      try {
        await keepTrying(await this.admission.admit(request, never), attempts);
        const afterMs = this.clock.monotonicMs() - this.#options.outageMs;
        this.attached.push({ pod: request.pod, afterMs, isCritical: request.priority === critical });
        return;
      } catch {
        await this.clock.sleep(10_000 + 5_000 * this.clock.random());
      }
    }
  }

  async #attempt(permit: Permit): Promise<void> {
    for (const network of permit.request.networks) {
      permit.started(network);
      await this.#work(aloneMs);
      const isBroken = network === "primary" && this.clock.monotonicMs() < this.#options.outageMs;
      permit.ran(okRun({ network, tookMs: aloneMs, result: isBroken ? "failed" : "ok" }));
      if (!isBroken) continue;
      this.failedAtMs.push(this.clock.monotonicMs());
      const error = new LeveeError("delegate-failed", "the primary is broken");
      permit.settle({ cause: "network", network, reason: error.message });
      await this.#work(aloneMs / 2);
      throw error;
    }
    permit.settle("ok");
  }

  async #work(ms: number): Promise<void> {
    this.#busy += 1;
    await this.clock.sleep(ms * Math.max(1, this.#busy / cores));
    this.#busy -= 1;
  }
}
