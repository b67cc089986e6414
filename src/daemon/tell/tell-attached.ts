import type { JsonText } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { SpareTime } from "../../base/spare-time.ts";
import { networkStatus } from "../../attachment/network-status.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseResult } from "../../cni/result.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { readDeviceInfo } from "../chains/device-info.ts";
import { subjectOf } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { ClaimTeller } from "./claim-teller.ts";
import type { EventTeller } from "./event-teller.ts";
import { silentStatusTeller, type PodStatus, type StatusTeller } from "./status-teller.ts";

/** The shim prints the result, sends ACK and leaves within this time. */
const soonMs = 5;
/** The pauses double up to this. About 80 s after the reply the repair of statuses takes over. */
const pauseMsMax = 60_000;

export interface TellNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "deviceInfoDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "findByToken">;
  readonly eventTeller: Pick<EventTeller, "aboutPod">;
  readonly statusTeller: StatusTeller;
  /** Undefined unless claims are told about their devices. */
  readonly claimTeller?: Pick<ClaimTeller, "tell"> | undefined;
  readonly timeline: Timeline;
  /** Whether recovery may still undo this record. */
  readonly isPending: (token: string) => boolean;
  /** Time for events. */
  readonly idle: Pick<SpareTime, "do">;
  /** Time for statuses. */
  readonly statusTime: Pick<SpareTime, "do">;
}

/** What a change took from a pod, and what it gave. */
interface ChangedChains {
  readonly gone: readonly Chain[];
  readonly came: readonly Chain[];
}

/** Tells the API server what a pod got: an event for each interface, and the pod's annotation. */
export class AttachedTeller {
  readonly #needs: TellNeeds;

  constructor(needs: TellNeeds) {
    this.#needs = needs;
  }

  /** Tells it after the reply has gone out, because the runtime waits for the reply. An undo may come first. */
  tellSoon(token: string, pauseMs = soonMs): void {
    const { clock, statusTime } = this.#needs;
    clock.after(pauseMs, () => {
      const fate = this.#fateOf(token);
      if (fate === "kept") statusTime.do(() => void this.tellNow(token), token);
      else if (fate === "open" && pauseMs * 2 <= pauseMsMax) this.tellSoon(token, pauseMs * 2);
    });
  }

  /** Never rejects: the pod is attached whether or not this succeeds (ADR 0028). */
  async tellNow(token: string): Promise<void> {
    const { journal, statusTeller, idle } = this.#needs;
    const record = journal.findByToken(token);
    if (record === undefined || statusTeller === silentStatusTeller || record.pod.name === "") return;
    try {
      const status = await statusOf(record, this.#needs);
      // Reading files took time, and the attachment may be gone.
      if (this.#fateOf(token) !== "kept") {
        this.tellSoon(token);
        return;
      }
      const telling = status === undefined ? undefined : this.#tellStatus(status, record);
      this.#needs.claimTeller?.tell(record.pod, () => journal.findByToken(token), []);
      idle.do(() => this.#tellEvents(record, record.chains));
      await telling;
    } catch (thrown) {
      this.#logUntold(record, thrown);
    }
  }

  /** The networks of a running pod have changed: an event for each, and the pod's annotation. Never rejects. */
  tellChange(record: AttachmentRecord, { gone, came }: ChangedChains): void {
    const { eventTeller, statusTeller, claimTeller, journal } = this.#needs;
    if (statusTeller === silentStatusTeller) return;
    claimTeller?.tell(record.pod, () => journal.findByToken(record.token), gone);
    const tell = (reason: string, message: string): void =>
      eventTeller.aboutPod(record.pod, { type: "Normal", reason, message });
    for (const chain of gone) tell("RemovedInterface", `Remove ${chain.ifname} from ${chain.network}`);
    this.#tellEvents(record, came);
    void statusOf(record, this.#needs)
      .then((status) => (status === undefined ? undefined : this.#tellStatus(status, record, "PLUG")))
      .catch((thrown: unknown) => this.#logUntold(record, thrown));
  }

  /** Whether an attachment stays. Recovery undoes one whose shim is gone, unless the runtime has the result. */
  #fateOf(token: string): "kept" | "open" | "gone" {
    const record = this.#needs.journal.findByToken(token);
    if (record === undefined || record.phase === "undoing" || record.delAttempts > 0) return "gone";
    return record.phase === "acknowledged" || !this.#needs.isPending(token) ? "kept" : "open";
  }

  async #tellStatus(status: PodStatus, record: AttachmentRecord, verb = "ADD"): Promise<void> {
    const { statusTeller, timeline, clock } = this.#needs;
    const startedMs = clock.monotonicMs();
    const note = (what: string, detail?: string): void => {
      const tookMs = Math.round(clock.monotonicMs() - startedMs);
      timeline.note(subjectOf(record, verb), what, { tookMs, ...(detail === undefined ? {} : { detail }) });
    };
    let isPostponed = false;
    const end = await statusTeller.tell(status, (why) => {
      // Once, because the attempts may go on for hours.
      if (!isPostponed) note("publishing", `network-status is tried again: ${why}`);
      isPostponed = true;
    });
    if (end === "delivered") note("published");
    // A postponed status was noted already. That a newer one replaces it, or that the daemon ends, is not noted.
    else if (end === "refused" || !isPostponed) note(`status-${end}`);
  }

  /** Multus' event for each network, with its name, interface and addresses. */
  #tellEvents(record: AttachmentRecord, chains: readonly Chain[]): void {
    try {
      for (const chain of chains) {
        const message = addedText(chain, record.results[record.chains.indexOf(chain)]);
        const notice = { type: "Normal", reason: "AddedInterface" } as const;
        if (message !== undefined) this.#needs.eventTeller.aboutPod(record.pod, { ...notice, message });
      }
    } catch (thrown) {
      this.#logUntold(record, thrown);
    }
  }

  #logUntold(record: AttachmentRecord, thrown: unknown): void {
    this.#needs.logger.error("A pod's network-status or events could not be told", {
      container: record.containerId,
      reason: toLeveeError(thrown, "Telling").message,
    });
  }
}

/** The right annotation for the pod; undefined when no plugin named an interface. */
export async function statusOf(
  record: AttachmentRecord,
  { config, logger }: Pick<TellNeeds, "config" | "logger">,
): Promise<PodStatus | undefined> {
  const devices = await readDeviceInfo(record, config.deviceInfoDir, logger);
  const annotation = networkStatus(record.chains, record.results, devices);
  if (annotation === undefined) return undefined;
  return { pod: record.pod, containerId: record.containerId, annotation };
}

function addedText(chain: Chain, text: JsonText | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { interfaces, ips } = parseResult(text, chain.cniVersion, `the result of ${chain.network}`);
  if (interfaces.length === 0 && ips.length === 0) return undefined;
  return `Add ${chain.ifname} [${ips.map(({ address }) => address).join(" ")}] from ${chain.network}`;
}
