import { toLeveeError } from "../../base/errors.ts";
import { KubeError, kubeStatusOf } from "../../kube/client/api.ts";
import { leasesPath, leaseText, parseLease, type LeaseFacts, type LeaseSeat } from "./lease-object.ts";
import { Term } from "./term.ts";

/** A holder that says nothing for so long has lost it. With one look each 2 s a successor is there within 20 s. */
const leaseSeconds = 15;
const lookMs = 2_000;
/** Well within the time of a lease: a look that hangs must not be the only one. */
const requestMs = 5_000;

export interface ElectionOptions extends LeaseSeat {
  /**
   * The highest fence that anything was written under. Asked for when there is no Lease: one that somebody has deleted is
   * made anew, and counted from 1 every later write would be refused as an older leader's.
   */
  readonly fenceSeen?: (signal: AbortSignal) => Promise<number>;
}

/**
 * Who acts, of several guards: the holder of a Lease. How long another has been silent is measured here, on a clock that
 * never jumps; the times inside of the Lease are for people.
 */
export class Election {
  readonly #options: ElectionOptions;
  #seen: { readonly resourceVersion: string; readonly atMs: number } | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
  }

  /** Resolves once this process leads, with its term. Goes on trying through every error, until aborted. */
  async lead(signal: AbortSignal): Promise<Term> {
    for (;;) {
      signal.throwIfAborted();
      const startedMs = this.#options.clock.monotonicMs();
      const lease = await this.#tryOnce(signal);
      // The term counts from before the request: whatever time that took is not ours.
      if (lease !== undefined) return new Term({ ...this.#options, lease, startedMs, leaseSeconds });
      await this.#options.clock.sleep(lookMs, signal);
    }
  }

  async #tryOnce(signal: AbortSignal): Promise<LeaseFacts | undefined> {
    try {
      const lease = await this.#read(signal);
      if (lease === undefined) return await this.#write("POST", undefined, signal);
      return this.#isFree(lease) ? await this.#write("PUT", lease, signal) : undefined;
    } catch (thrown) {
      signal.throwIfAborted();
      // Somebody else was faster.
      if (kubeStatusOf(thrown) === 409) return undefined;
      const { message } = toLeveeError(thrown, "Cannot become the leader");
      this.#options.logger.warn("the lease cannot be taken; trying again", { error: message });
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

  /** It was let go, or has not changed for as long as it lasts while we looked. */
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
      // Every holder has a higher number than any before it: it is the fence of what it writes.
      transitions: last + 1,
      durationSeconds: leaseSeconds,
      nowMs: clock.wallMs(),
      ...(before === undefined ? {} : { resourceVersion: before.resourceVersion }),
    });
    return parseLease(await api.call({ method, path, body, deadlineMs: requestMs, signal })) ?? refuse(path);
  }
}

function refuse(path: string): never {
  throw new KubeError("api-unreachable", `Cannot read ${path}: the answer is no Lease`);
}
