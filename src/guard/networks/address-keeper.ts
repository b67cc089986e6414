import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { kubeStatusOf, type FollowableApi } from "../../kube/client/api.ts";
import { listCached } from "../../kube/watch/list-cached.ts";
import type { NetworkRoom } from "../../lint/addresses/pool-room.ts";
import { AddressCount } from "./address-count.ts";
import { parsePoolObject } from "./address-pool-object.ts";
import type { WatchedNetwork } from "./watched-network.ts";

interface AddressKeeperOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The definitions; undefined while they cannot be read. */
  readonly networks: () => Iterable<WatchedNetwork> | undefined;
  readonly nodes: () => readonly { readonly name: string }[];
  /** One guard counts for the cluster. */
  readonly isLeader: () => boolean;
}

const poolsPath = "/apis/whereabouts.cni.cncf.io/v1alpha1/ippools";
/** How soon a new leader, or a new definition, is seen. */
const tickMs = 5_000;
/** An IPPool may have a megabyte and changes with every pod, so a watch would cost more than a look from time to time. */
const lookMs = 60_000;
/** A count stands for so long without a newer one: an API server that restarts must not end an alert. */
const staleMs = 300_000;

/**
 * Counts the addresses that whereabouts has left for each network definition, while this guard leads. Without a definition
 * that uses whereabouts nothing is asked.
 */
export class AddressKeeper {
  readonly #options: AddressKeeperOptions;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #rooms: readonly NetworkRoom[] | undefined;
  #countedMs = 0;
  #triedMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(options: AddressKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Undefined while nothing is known: then another guard leads, or the IPPools cannot be read. */
  get rooms(): readonly NetworkRoom[] | undefined {
    return this.#rooms;
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the guard ends"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#look().catch((thrown: unknown) => this.#failed(thrown));
      await clock.sleep(tickMs, signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { clock, networks, nodes, isLeader } = this.#options;
    if (!isLeader()) return this.#forget();
    const known = networks();
    if (known === undefined) return this.#expire();
    const count = new AddressCount(known, new Set(nodes().map(({ name }) => name)));
    if (count.isEmpty) {
      this.#forget();
      this.#rooms = [];
      return;
    }
    if (clock.monotonicMs() - this.#triedMs < lookMs) return;
    this.#triedMs = clock.monotonicMs();
    await this.#countAll(count);
    this.#rooms = isLeader() ? count.rooms() : undefined;
    this.#countedMs = clock.monotonicMs();
    this.#isFailing = false;
  }

  async #countAll(count: AddressCount): Promise<void> {
    const { api } = this.#options;
    const list = { api, path: poolsPath, query: {}, signal: this.#stop.signal, notOlderThan: undefined };
    try {
      await listCached(list, (item) => {
        const pool = parsePoolObject(item);
        if (pool !== undefined) count.add(pool);
      });
    } catch (thrown) {
      // Where whereabouts is not installed, no address of it is taken.
      if (kubeStatusOf(thrown) !== 404) throw thrown;
    }
  }

  /** The next leader, or the next definition, is counted at once. */
  #forget(): void {
    this.#rooms = undefined;
    this.#triedMs = Number.NEGATIVE_INFINITY;
  }

  #expire(): void {
    if (this.#options.clock.monotonicMs() - this.#countedMs >= staleMs) this.#rooms = undefined;
  }

  #failed(thrown: unknown): void {
    this.#expire();
    // Once, as missing rights stay missing.
    if (this.#isFailing || this.#stop.signal.aborted) return;
    this.#isFailing = true;
    const { message } = toLeveeError(thrown, "Cannot list");
    this.#options.logger.warn("Cannot count the addresses of whereabouts", { error: message });
  }
}
