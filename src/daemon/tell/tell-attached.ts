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
/** The shim prints the answer, says so and leaves within this. */
const soonMs = 5;
/** The pauses double up to this: what recovery has not settled about 80 s after the answer is left to the repair of statuses. */
const pauseMsMax = 60_000;

/**
 * Tells it once the answer is on its way: the runtime waits for that, and nobody for this. An undo may be quicker.
 * Of the record only the name is kept until then: in a storm a thousand wait here.
 */
export function tellSoon(token: string, ports: TellPorts, pauseMs = soonMs): void {
  ports.clock.after(pauseMs, () => {
    const fate = fateOf(token, ports);
    if (fate === "kept") ports.statusTime.do(() => void tellAttached(token, ports), token);
    else if (fate === "open" && pauseMs * 2 <= pauseMsMax) tellSoon(token, ports, pauseMs * 2);
  });
}

/** What becomes of an attachment: recovery undoes one whose shim is gone, unless the runtime has the result after all. */
function fateOf(token: string, { journal, recovery }: TellPorts): "kept" | "open" | "gone" {
  const record = journal.findByToken(token);
  if (record === undefined || record.phase === "undoing" || record.delAttempts > 0) return "gone";
  return record.phase === "acknowledged" || !recovery.isPending(token) ? "kept" : "open";
}

/**
 * Tells the cluster what a pod got: an event for each interface, and the pod's own annotation. Nobody waits for either
 * (ADR 0028): the pod is attached whatever comes of this, so it never rejects.
 */
export async function tellAttached(token: string, ports: TellPorts): Promise<void> {
  const record = ports.journal.findByToken(token);
  if (record === undefined || ports.publisher === silentPublisher || record.pod.name === "") return;
  try {
    const status = await statusOf(record, ports);
    // Files were read meanwhile.
    if (fateOf(token, ports) !== "kept") {
      tellSoon(token, ports);
      return;
    }
    const published = status === undefined ? undefined : publish(status, record, ports);
    ports.spareTime.do(() => announce(record, ports));
    await published;
  } catch (thrown) {
    sayUntold(record, thrown, ports);
  }
}

function sayUntold(record: AttachmentRecord, thrown: unknown, { logger }: TellPorts): void {
  logger.error("What a pod got could not be told", {
    container: record.containerId,
    reason: toLeveeError(thrown, "Telling").message,
  });
}

/** What the pod's annotation should be; undefined when no plugin named an interface. */
export async function statusOf(
  record: AttachmentRecord,
  { config, logger }: Pick<TellPorts, "config" | "logger">,
): Promise<PodStatus | undefined> {
  const devices = await readDeviceInfo(record, config.deviceInfoDir, logger);
  const annotation = networkStatus(record.chains, record.results, devices);
  if (annotation === undefined) return undefined;
  return { pod: record.pod, containerId: record.containerId, annotation };
}

async function publish(
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
    // Once: it may be tried for hours.
    if (!isPostponed) note("publishing", `network-status is tried again: ${why}`);
    isPostponed = true;
  });
  if (end === "delivered") note("published");
  // A newer one, or the end of the daemon, is no news about one that was put off.
  else if (end === "refused" || !isPostponed) note(`status-${end}`);
}

/** Multus' event for each network: its name, its interface and its addresses. */
function announce(record: AttachmentRecord, ports: TellPorts): void {
  try {
    for (const [index, chain] of record.chains.entries()) {
      const message = addedText(chain, record.results[index]);
      const notice = { type: "Normal", reason: "AddedInterface" } as const;
      if (message !== undefined) ports.announcer.aboutPod(record.pod, { ...notice, message });
    }
  } catch (thrown) {
    sayUntold(record, thrown, ports);
  }
}

function addedText(chain: Chain, text: JsonText | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { interfaces, ips } = parseResult(text, chain.cniVersion, `the result of ${chain.network}`);
  if (interfaces.length === 0 && ips.length === 0) return undefined;
  return `Add ${chain.ifname} [${ips.map(({ address }) => address).join(" ")}] from ${chain.network}`;
}
