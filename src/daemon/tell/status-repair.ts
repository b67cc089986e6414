import { toLeveeError } from "../../base/errors.ts";
import { sameJson } from "../../base/same-json.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ClaimTeller } from "./claim-teller.ts";
import type { StatusTeller } from "./status-teller.ts";
import type { Service } from "../service.ts";
import { statusOf } from "./tell-attached.ts";
import { networkStatusAnnotation } from "../../base/annotations.ts";
import type { LiveView, View } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/** A full node takes half a minute, and the server has hardly any load. */
const pauseMs = 100;
/** Pods that may wait; more than a node can have. */
const waitingMax = 2_000;

export interface StatusRepairNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "deviceInfoDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "forPod">;
  readonly statusTeller: Pick<StatusTeller, "tell">;
  readonly claimTeller?: Pick<ClaimTeller, "tell"> | undefined;
  readonly view: View;
}

/**
 * Compares the journal with the network-status annotations, and tells the missing ones again. The last daemon may have
 * died before it delivered one, or a static pod's mirror may have come after the ADD.
 */
export function startStatusRepair(needs: StatusRepairNeeds): Service {
  const { live } = needs.view;
  if (live === undefined) return { stop: () => undefined };
  const repair = new StatusRepair(needs, live);
  return { stop: () => repair.stop() };
}

class StatusRepair {
  readonly #needs: StatusRepairNeeds;
  readonly #waiting = new Map<string, PodFacts>();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  #working: Promise<void> | undefined;

  constructor(needs: StatusRepairNeeds, live: LiveView) {
    this.#needs = needs;
    this.#stopListening = live.onNewPod((pod) => this.#add(pod));
    // Pods of the first list may have come before the listener.
    void live.podsSynced().then(() => {
      for (const pod of needs.view.pods() ?? []) this.#add(pod);
    });
  }

  async stop(): Promise<void> {
    this.#stopListening();
    this.#closing.abort();
    await this.#working;
  }

  #add(pod: PodFacts): void {
    const isKnown = this.#needs.journal.forPod(pod.namespace, pod.name).length > 0;
    if (!isKnown || this.#closing.signal.aborted || this.#waiting.size >= waitingMax) return;
    this.#waiting.set(`${pod.namespace}/${pod.name}`, pod);
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
  }

  async #work(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#closing.signal.aborted) return;
      this.#waiting.delete(next[0]);
      await this.#look(next[1]).catch((thrown: unknown) =>
        this.#needs.logger.warn("The network-status of a pod could not be compared with its attachments", {
          pod: next[0],
          reason: toLeveeError(thrown, "Comparison").message,
        }),
      );
      await this.#needs.clock.sleep(pauseMs, this.#closing.signal).catch(() => undefined);
    }
  }

  async #look(pod: PodFacts): Promise<void> {
    const record = this.#newestRecord(pod);
    if (record === undefined || pod.isDeleting === true) return;
    // What a claim has already changes nothing.
    this.#needs.claimTeller?.tell(record.pod, () => this.#newestRecord(pod), []);
    const status = await statusOf(record, this.#needs);
    // Looked up again, because the ADD itself may have told it meanwhile.
    const now = await this.#needs.view.findPod(pod.namespace, pod.name);
    if (status === undefined || hasAll(now?.annotations[networkStatusAnnotation], status.annotation)) return;
    void this.#needs.statusTeller.tell(status);
  }

  #newestRecord(pod: PodFacts): AttachmentRecord | undefined {
    return this.#needs.journal
      .forPod(pod.namespace, pod.name)
      .filter(({ phase, origin }) => origin === "levee" && (phase === "committed" || phase === "acknowledged"))
      .filter(({ pod: { uid } }) => pod.isStatic || uid === "" || uid === pod.uid)
      .at(-1);
  }
}

/** Whether every wanted entry is there. Entries that others have added stay. */
function hasAll(annotation: string | undefined, wanted: string): boolean {
  if (annotation === wanted) return true;
  const entries = entriesOf(annotation);
  return entriesOf(wanted).every((entry) => entries.some((other) => sameJson(other, entry)));
}

function entriesOf(annotation: string | undefined): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(annotation ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    // The annotation is not JSON, so it has none of the wanted entries.
    return [];
  }
}
