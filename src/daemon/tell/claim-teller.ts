import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { judgeNetworkData } from "../../kube/outbox/delivery-verdict.ts";
import { Outbox, type OutboxHealth } from "../../kube/outbox/outbox.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { View } from "../../view/view.ts";
import { chainDevice } from "./chain-device.ts";
import type { PodRef } from "./event-teller.ts";

/** A full node, twice. A letter is a name and a few device IDs. */
const lettersMax = 500;
/** Each letter reads the pod's claims, then writes them. */
const pace = { burst: 50, refillMs: 500 };

interface ClaimTellerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly view: Pick<View, "findPod" | "live">;
}

/** An attachment as it is when its letter is sent; undefined when it is gone. */
export type CurrentRecord = () => AttachmentRecord | undefined;

/**
 * Background queue for the networkData of claims. The claims are read when a letter is sent, and devices are known by
 * their IDs, so a daemon that restarts tells the same without having kept anything.
 */
export class ClaimTeller {
  readonly #options: ClaimTellerOptions;
  readonly #outbox: Outbox;
  /** Devices that pods have lost, until their claims say so. */
  readonly #lost = new Map<string, Set<string>>();

  constructor(options: ClaimTellerOptions) {
    const { clock, logger } = options;
    this.#options = options;
    this.#outbox = new Outbox({
      what: "networkData of a claim",
      clock,
      logger,
      judge: judgeNetworkData,
      lettersMax,
      atOnceMax: 1,
      pace: new TokenBucket(clock, pace),
    });
  }

  /** `gone`: chains that a running pod no longer has. A pod without devices costs nothing. */
  tell(pod: PodRef, current: CurrentRecord, gone: readonly Chain[]): void {
    const lostNow = gone.flatMap((chain) => chainDevice(chain) ?? []);
    const record = current();
    if (lostNow.length === 0 && record?.chains.some((chain) => chainDevice(chain) !== undefined) !== true) return;
    const key = `${pod.namespace}/${pod.name}/${pod.uid}`;
    const lost = this.#lost.get(key) ?? new Set();
    for (const device of lostNow) lost.add(device);
    if (lost.size > 0) this.#lost.set(key, lost);
    const send = (): Promise<void> => this.#send(pod, current, lost);
    void this.#outbox.put({ key, send }).then((fate) => {
      if (fate !== "replaced" && this.#lost.get(key) === lost) this.#lost.delete(key);
    });
  }

  health(): OutboxHealth {
    return this.#outbox.health();
  }

  /** The next daemon tells the others when it sees their pods. */
  close(): void {
    this.#outbox.close();
  }

  async #send(pod: PodRef, current: CurrentRecord, lost: ReadonlySet<string>): Promise<void> {
    const { api, clock, view } = this.#options;
    const record = current();
    if (record === undefined || view.live === undefined) return;
    // Few sites want this, and few pods have devices.
    const { claimPatches } = await import("./claim-data.ts");
    const question = { pod, findPod: view.findPod.bind(view), live: view.live, clock, lost };
    for (const patch of await claimPatches(record, question)) await api.call(patch);
  }
}
