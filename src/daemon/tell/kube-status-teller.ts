import type { ContainerId } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { closingMs } from "../../config/time-budgets.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { Fate, Letter } from "../../kube/outbox/letter.ts";
import { Outbox, type OutboxHealth } from "../../kube/outbox/outbox.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";
import { judgeStatus } from "../../kube/outbox/delivery-verdict.ts";
import { statusPatch, type PatchedPod } from "../../kube/outbox/status-patch.ts";
import type { PodRef } from "./event-teller.ts";
import type { OnPostponed, PodStatus, StatusTeller } from "./status-teller.ts";
import type { View } from "../../view/view.ts";
import { networkStatusAnnotation } from "../../base/annotations.ts";

/** Four times the pods of a full node. A status has about 1 KiB. */
const statusesMax = 1_000;
/** Enough for a storm of pods with a slow server, and a small load for the server. */
const atOnceMax = 4;
/** Every pod of a full node at once, even with two sandboxes each, then ten pods a second. */
const nodePace = { burst: 512, refillMs: 100 };
/** How often the ending daemon looks whether the last statuses have arrived. They take some milliseconds. */
const closeLookMs = 10;

interface KubeStatusOptions {
  readonly api: KubeApi;
  readonly view: Pick<View, "findPod" | "live">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onFate: (fate: Fate) => void;
}

/** Background queue for patches of network-status annotations. */
export class KubeStatusTeller implements StatusTeller {
  readonly #options: KubeStatusOptions;
  readonly #outbox: Outbox;
  readonly #keys = new Map<ContainerId, string>();
  /** The container of each of these keys. */
  readonly #newest = new Map<string, ContainerId>();

  constructor(options: KubeStatusOptions) {
    const { clock, logger, onFate } = options;
    this.#options = options;
    this.#outbox = new Outbox({
      what: "network-status",
      clock,
      logger,
      judge: judgeStatus,
      lettersMax: statusesMax,
      atOnceMax,
      pace: new TokenBucket(clock, nodePace),
      onFate,
    });
  }

  tell(status: PodStatus, onPostponed?: OnPostponed): Promise<Fate> {
    // A server that is known to be away may be asked only minutes later.
    if (this.#isAway()) onPostponed?.("the API server does not answer");
    return this.#put(status, (thrown) => onPostponed?.(toLeveeError(thrown, "Delivery").message));
  }

  drop(containerId: ContainerId): void {
    const key = this.#keys.get(containerId);
    if (key !== undefined) this.#outbox.drop(key);
  }

  health(): OutboxHealth {
    return this.#outbox.health();
  }

  /** Waits for the patches that are being sent. The next daemon finds the others by comparison. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    const endsMs = clock.monotonicMs() + closingMs;
    while (this.#outbox.health().sending > 0 && clock.monotonicMs() < endsMs) await clock.sleep(closeLookMs);
    this.#outbox.close();
  }

  #isAway(): boolean {
    const { live } = this.#options.view;
    return this.#outbox.health().awaySinceMs !== undefined || live?.awaySinceMs() !== undefined;
  }

  async #put({ pod, containerId, annotation }: PodStatus, onPostponed: Required<Letter>["onPostponed"]): Promise<Fate> {
    const key = `${pod.namespace}/${pod.name}`;
    // From here on only the newest container of the pod counts.
    const before = this.#newest.get(key);
    if (before !== undefined) this.#keys.delete(before);
    this.#keys.set(containerId, key);
    this.#newest.set(key, containerId);
    const send = (): Promise<void> => this.#patch(pod, annotation);
    const fate = await this.#outbox.put({ key, send, onPostponed });
    if (fate !== "replaced" && this.#keys.delete(containerId)) this.#newest.delete(key);
    return fate;
  }

  async #patch(pod: PodRef, annotation: string): Promise<void> {
    const target = await this.#targetOf(pod);
    await this.#options.api.call(statusPatch(target, { [networkStatusAnnotation]: annotation }));
  }

  /** On the API server a static pod is its mirror, which has a different UID than the pod of kubelet. */
  async #targetOf({ namespace, name, uid }: PodRef): Promise<PatchedPod> {
    const known = await this.#options.view.findPod(namespace, name);
    if (known?.isStatic === true) return { namespace, name, uid: known.uid };
    return { namespace, name, uid: uid === "" ? known?.uid : uid };
  }
}
