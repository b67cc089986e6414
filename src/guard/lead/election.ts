import { toLeveeError } from "../../base/errors.ts";
import { KubeError, kubeStatusOf } from "../../kube/client/api.ts";
import { leasesPath, leaseText, parseLease, type LeaseFacts, type LeaseSeat } from "./lease-object.ts";
import { Term } from "./term.ts";

/** A holder that is silent for this long has lost the Lease. With a look every 2 s a successor leads within 20 s. */
const leaseSeconds = 15;
const lookMs = 2_000;
/** Well within the Lease's time, so that one hanging request does not cost it. */
const requestMs = 5_000;

export interface ElectionOptions extends LeaseSeat {
  /**
   * The highest fence of any earlier write. Needed when the Lease was deleted: a new one that counts from 1 would
   * make the API server refuse every later write as an older leader's.
   */
  readonly fenceSeen?: (signal: AbortSignal) => Promise<number>;
}

/**
 * Decides which of several guards acts: the holder of a Lease. The silence of another holder is measured here, on the
 * monotonic clock; the times in the Lease are for people.
 */
export class Election {
  readonly #options: ElectionOptions;
  #seen: { readonly resourceVersion: string; readonly atMs: number } | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
  }

  /** Resolves with the term once this process leads. Retries through every error until aborted. */
  async lead(signal: AbortSignal): Promise<Term> {
    for (;;) {
      signal.throwIfAborted();
      const startedMs = this.#options.clock.monotonicMs();
      const won = await this.#tryOnce(signal);
      // The term counts from before the request, because its duration is not ours.
      if (won !== undefined) return new Term({ ...this.#options, ...won, startedMs, leaseSeconds });
      await this.#options.clock.sleep(lookMs, signal);
    }
  }

  async #tryOnce(signal: AbortSignal): Promise<WonLease | undefined> {
    try {
      const before = await this.#read(signal);
      if (before !== undefined && !this.#isFree(before)) return undefined;
      const lease = await this.#write(before === undefined ? "POST" : "PUT", before, signal);
      return { lease, heardMs: before?.renewedMs ?? 0 };
    } catch (thrown) {
      signal.throwIfAborted();
      // Another guard was faster.
      if (kubeStatusOf(thrown) === 409) return undefined;
      const { message } = toLeveeError(thrown, "Cannot become the leader");
      this.#options.logger.warn("Cannot take the lease; trying again", { error: message });
      return undefined;
    }
  }

  async #read(signal: AbortSignal): Promise<LeaseFacts | undefined> {
    const { api, namespace, name } = this.#options;
    const path = `${leasesPath(namespace)}/${encodeURIComponent(name)}`;
    try {
      const text = await api.call({ method: "GET", path, deadlineMs: requestMs, signal });
      return parseLease(text) ?? refuse(path);
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return undefined;
      throw thrown;
    }
  }

  /** The Lease was released, or did not change for its whole duration while we looked. */
  #isFree({ holder, resourceVersion }: LeaseFacts): boolean {
    if (holder === "") return true;
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#seen?.resourceVersion !== resourceVersion) this.#seen = { resourceVersion, atMs: nowMs };
    return nowMs - this.#seen.atMs > leaseSeconds * 1_000;
  }

  async #write(method: "POST" | "PUT", before: LeaseFacts | undefined, signal: AbortSignal): Promise<LeaseFacts> {
    const { api, clock, namespace, name, identity } = this.#options;
    const last = before?.transitions ?? (await this.#options.fenceSeen?.(signal)) ?? 0;
    const path = method === "POST" ? leasesPath(namespace) : `${leasesPath(namespace)}/${encodeURIComponent(name)}`;
    const body = leaseText({
      namespace,
      name,
      holder: identity,
      // Every holder gets a higher number than all before it: the fence of its writes.
      transitions: last + 1,
      durationSeconds: leaseSeconds,
      nowMs: clock.wallMs(),
      ...(before === undefined ? {} : { resourceVersion: before.resourceVersion }),
    });
    return parseLease(await api.call({ method, path, body, deadlineMs: requestMs, signal })) ?? refuse(path);
  }
}

interface WonLease {
  readonly lease: LeaseFacts;
  /** When the leader before was last heard of. */
  readonly heardMs: number;
}

function refuse(path: string): never {
  throw new KubeError("api-unreachable", `Cannot read ${path}: the answer is not a Lease`);
}
