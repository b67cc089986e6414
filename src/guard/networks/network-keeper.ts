import { isDeepStrictEqual } from "node:util";
import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { FollowableApi } from "../../kube/client/api.ts";
import { Reflector } from "../../kube/watch/reflector.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { ChangeBook } from "./change-book.ts";
import { WarningEvents } from "./warning-events.ts";
import { networkUsers } from "./network-users.ts";
import { changeWarning, overlapWarnings, type NetworkWarning } from "./network-warning.ts";
import { projectWatchedNetwork, type WatchedNetwork } from "./watched-network.ts";

interface NetworkKeeperOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: string;
  readonly facts: { isCurrent(): boolean; pods(): Iterable<ClusterPod> };
  /** Only the leader writes events. */
  readonly isLeader: () => boolean;
}

/** Soon after a change, so that few pods have started with the new configuration and look as if they had the old one. */
const changeLookMs = 2_000;
/** Without a change only pods come and go. */
const lookMs = 10_000;
/** A restarting API server is back sooner. */
const blindAfterMs = 60_000;

/**
 * Follows network definitions and warns of edits that hurt: a definition that changes or goes while pods use it, and
 * ranges that overlap on one segment. Every replica looks, so that the next leader knows what was before. It blocks
 * nothing, and nothing waits for it: without the right to read definitions it finds nothing.
 */
export class NetworkKeeper {
  readonly #options: NetworkKeeperOptions;
  readonly #networks: Reflector<WatchedNetwork>;
  readonly #book = new ChangeBook();
  readonly #events: WarningEvents;
  #warnings: readonly NetworkWarning[] | undefined;
  #hasChanged = true;
  #lookedMs = 0;
  #telling: Promise<void> | undefined;
  #cancel: Cancel = () => undefined;

  constructor(options: NetworkKeeperOptions) {
    this.#options = options;
    this.#events = new WarningEvents(options);
    this.#networks = new Reflector<WatchedNetwork>({
      ...options,
      resource: "network-attachment-definitions",
      path: "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
      project: projectWatchedNetwork,
      isSame: isDeepStrictEqual,
    });
    this.#networks.store.onChange(() => (this.#hasChanged = true));
  }

  start(): void {
    this.#networks.start();
    this.#cancel = this.#options.clock.every(changeLookMs, () => this.#tick());
  }

  /** Undefined while the definitions cannot be read. */
  get warnings(): readonly NetworkWarning[] | undefined {
    return this.#warnings;
  }

  /** Undefined while the definitions cannot be read. */
  get networks(): Iterable<WatchedNetwork> | undefined {
    return this.#canSee() ? this.#networks.store.values() : undefined;
  }

  async close(): Promise<void> {
    this.#cancel();
    await Promise.all([this.#networks.close(), this.#telling]);
  }

  #tick(): void {
    const { clock } = this.#options;
    if (!this.#hasChanged && clock.monotonicMs() - this.#lookedMs < lookMs) return;
    this.#lookedMs = clock.monotonicMs();
    this.#warnings = this.#canSee() ? this.#look() : undefined;
  }

  #look(): readonly NetworkWarning[] {
    const { clock, facts, isLeader } = this.#options;
    this.#hasChanged = false;
    const { store } = this.#networks;
    const changes = this.#book.look(store.values(), networkUsers(facts.pods()), clock.wallMs());
    const warnings = [...changes.map(changeWarning), ...overlapWarnings(store.values())];
    if (isLeader()) this.#tell(warnings);
    return warnings;
  }

  #tell(warnings: readonly NetworkWarning[]): void {
    this.#telling ??= this.#events
      .tell(warnings)
      .catch((thrown: unknown) =>
        this.#options.logger.error("Cannot warn of networks", {
          error: toLeveeError(thrown, "Cannot tell").message,
        }),
      )
      .finally(() => (this.#telling = undefined));
  }

  #canSee(): boolean {
    const { clock, facts } = this.#options;
    const { isSynced, failingSinceMs } = this.#networks.health();
    const isFresh = failingSinceMs === undefined || clock.wallMs() - failingSinceMs <= blindAfterMs;
    return isSynced && isFresh && facts.isCurrent();
  }
}
