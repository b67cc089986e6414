import type { JsonText } from "../../base/brand.ts";
import { toLeveeError } from "../../base/errors.ts";
import { networkStatus } from "../../attachment/network-status.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseResult } from "../../cni/result.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { readDeviceInfo } from "../look-up/device-info.ts";
import type { GcPorts } from "../collect/gc-ports.ts";
import { silentPublisher, type PodStatus } from "./status-publisher.ts";
import { subjectOf } from "../record/subject.ts";

type TellPorts = Pick<
  GcPorts,
  | "announcer"
  | "publisher"
  | "timeline"
  | "logger"
  | "clock"
  | "config"
  | "spareTime"
  | "statusTime"
  | "journal"
  | "recovery"
>;
/** The shim prints the result, sends ACK and leaves within this time. */
const soonMs = 5;
/** The pauses double up to this. After about 80 s, the repair of statuses takes over what recovery has not settled. */
const pauseMsMax = 60_000;

/**
 * Tells the attachment after the answer has gone out, because only the runtime waits. An undo may come first. Until then
 * only the token is kept, not the record: in a storm a thousand wait here.
 */
export function tellSoon(token: string, ports: TellPorts, pauseMs = soonMs): void {
  ports.clock.after(pauseMs, () => {
    const fate = fateOf(token, ports);
    if (fate === "kept") ports.statusTime.do(() => void tellAttached(token, ports), token);
    else if (fate === "open" && pauseMs * 2 <= pauseMsMax) tellSoon(token, ports, pauseMs * 2);
  });
}

/** Whether an attachment stays. Recovery undoes one whose shim is gone, unless the runtime has the result. */
function fateOf(token: string, { journal, recovery }: TellPorts): "kept" | "open" | "gone" {
  const record = journal.findByToken(token);
  if (record === undefined || record.phase === "undoing" || record.delAttempts > 0) return "gone";
  return record.phase === "acknowledged" || !recovery.isPending(token) ? "kept" : "open";
}

/**
 * Tells the API server what a pod got: an event for each interface, and the pod's annotation. No call waits for either
 * (ADR 0028): the pod is attached whether or not this succeeds, so it never rejects.
 */
export async function tellAttached(token: string, ports: TellPorts): Promise<void> {
  const record = ports.journal.findByToken(token);
  if (record === undefined || ports.publisher === silentPublisher || record.pod.name === "") return;
  try {
    const status = await statusOf(record, ports);
    // Reading files took time, and the attachment may be gone.
    if (fateOf(token, ports) !== "kept") {
      tellSoon(token, ports);
      return;
    }
    const telling = status === undefined ? undefined : tellStatus(status, record, ports);
    ports.spareTime.do(() => tellEvents(record, ports));
    await telling;
  } catch (thrown) {
    logUntold(record, thrown, ports);
  }
}

function logUntold(record: AttachmentRecord, thrown: unknown, { logger }: TellPorts): void {
  logger.error("The attachments of a pod could not be told to the API server", {
    container: record.containerId,
    reason: toLeveeError(thrown, "Telling").message,
  });
}

/** The right annotation for the pod; undefined when no plugin named an interface. */
export async function statusOf(
  record: AttachmentRecord,
  { config, logger }: Pick<TellPorts, "config" | "logger">,
): Promise<PodStatus | undefined> {
  const devices = await readDeviceInfo(record, config.deviceInfoDir, logger);
  const annotation = networkStatus(record.chains, record.results, devices);
  if (annotation === undefined) return undefined;
  return { pod: record.pod, containerId: record.containerId, annotation };
}

async function tellStatus(
  status: PodStatus,
  record: AttachmentRecord,
  { publisher, timeline, clock }: TellPorts,
): Promise<void> {
  const startedMs = clock.monotonicMs();
  const note = (what: string, detail?: string): void => {
    const tookMs = Math.round(clock.monotonicMs() - startedMs);
    timeline.note(subjectOf(record, "ADD"), what, { tookMs, ...(detail === undefined ? {} : { detail }) });
  };
  let isPostponed = false;
  const end = await publisher.publish(status, (why) => {
    // Once, because the attempts may go on for hours.
    if (!isPostponed) note("publishing", `network-status is tried again: ${why}`);
    isPostponed = true;
  });
  if (end === "delivered") note("published");
  // A postponed status was noted already. That a newer one replaces it, or that the daemon ends, is not noted.
  else if (end === "refused" || !isPostponed) note(`status-${end}`);
}

/** Multus' event for each network, with its name, interface and addresses. */
function tellEvents(record: AttachmentRecord, ports: TellPorts): void {
  try {
    for (const [index, chain] of record.chains.entries()) {
      const message = addedText(chain, record.results[index]);
      const notice = { type: "Normal", reason: "AddedInterface" } as const;
      if (message !== undefined) ports.announcer.aboutPod(record.pod, { ...notice, message });
    }
  } catch (thrown) {
    logUntold(record, thrown, ports);
  }
}

function addedText(chain: Chain, text: JsonText | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { interfaces, ips } = parseResult(text, chain.cniVersion, `the result of ${chain.network}`);
  if (interfaces.length === 0 && ips.length === 0) return undefined;
  return `Add ${chain.ifname} [${ips.map(({ address }) => address).join(" ")}] from ${chain.network}`;
}
