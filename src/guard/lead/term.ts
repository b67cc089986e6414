import type { Cancel } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { kubeStatusOf } from "../../kube/client/api.ts";
import { leasesPath, leaseText, parseLease, type LeaseFacts, type LeaseSeat } from "./lease-object.ts";

const renewEveryMs = 2_000;
/** Stops five seconds before another guard may take over. */
const heldMs = 10_000;
const requestMs = 3_000;

interface TermOptions extends LeaseSeat {
  readonly lease: LeaseFacts;
  readonly heardMs?: number;
  /** When the winning request was sent, on the monotonic clock. */
  readonly startedMs: number;
  readonly leaseSeconds: number;
}

/** The time in which this process leads. A lost term never comes back: the process ends, and a new one starts clean. */
export class Term {
  readonly identity: string;
  /** Higher than the fence of every earlier leader. */
  readonly fence: number;
  /** When the leader before was last heard of, by its own clock; 0 when unknown. */
  readonly heardMs: number;
  readonly #options: TermOptions;
  readonly #lost = new AbortController();
  readonly #cancel: Cancel;
  #resourceVersion: string;
  #renewedMs: number;
  #isRenewing = false;

  constructor(options: TermOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.fence = options.lease.transitions;
    this.heardMs = options.heardMs ?? 0;
    this.#resourceVersion = options.lease.resourceVersion;
    this.#renewedMs = options.startedMs;
    this.#cancel = options.clock.every(renewEveryMs, () => void this.#renew());
  }

  /** Aborted with the reason as soon as the term is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Called before each write; needs no timer to fire. */
  isHeld(): boolean {
    if (!this.#lost.signal.aborted && this.#silentMs() >= heldMs)
      this.#lose(`it could not be renewed for ${heldMs} ms`);
    return !this.#lost.signal.aborted;
  }

  /** Releases the Lease, so that a successor need not wait. */
  async release(): Promise<void> {
    if (!this.isHeld()) return;
    this.#lose("it was released");
    await this.#put("");
  }

  async #renew(): Promise<void> {
    if (!this.isHeld() || this.#isRenewing) return;
    this.#isRenewing = true;
    const startedMs = this.#options.clock.monotonicMs();
    try {
      this.#resourceVersion = await this.#put(this.identity);
      this.#renewedMs = startedMs;
    } catch (thrown) {
      this.#options.logger.warn("Cannot renew the lease", { silentMs: Math.round(this.#silentMs()) });
      if (kubeStatusOf(thrown) === 409) await this.#lookAgain();
    } finally {
      this.#isRenewing = false;
    }
  }

  /** The Lease has changed. If only our answer was lost, the holder is still us and the next renewal fits again. */
  async #lookAgain(): Promise<void> {
    const { api } = this.#options;
    const text = await api.call({ method: "GET", path: this.#path(), deadlineMs: requestMs }).catch(() => "");
    const lease = parseLease(text);
    if (lease === undefined) return;
    if (lease.holder === this.identity && lease.transitions === this.fence)
      this.#resourceVersion = lease.resourceVersion;
    else this.#lose(`${lease.holder === "" ? "no guard" : lease.holder} holds the lease`);
  }

  #path(): string {
    const { namespace, name } = this.#options;
    return `${leasesPath(namespace)}/${encodeURIComponent(name)}`;
  }

  /** Resolves with the new resourceVersion. */
  async #put(holder: string): Promise<string> {
    const { api, clock, namespace, name, leaseSeconds } = this.#options;
    const body = leaseText({
      namespace,
      name,
      holder,
      transitions: this.fence,
      durationSeconds: leaseSeconds,
      nowMs: clock.wallMs(),
      resourceVersion: this.#resourceVersion,
    });
    const text = await api.call({ method: "PUT", path: this.#path(), body, deadlineMs: requestMs });
    return parseLease(text)?.resourceVersion ?? this.#resourceVersion;
  }

  #silentMs(): number {
    return this.#options.clock.monotonicMs() - this.#renewedMs;
  }

  #lose(why: string): void {
    this.#cancel();
    this.#lost.abort(new LeveeError("cancelled", `Cannot lead any longer: ${why}`));
  }
}
