import type { ContainerId } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { AttachmentKey, AttachmentRecord } from "../journal/attachment-record.ts";
import { unknownLeak, type LeakEntry } from "../journal/leak-ledger.ts";
import { importMultusCache, type ImportReport } from "./multus-cache.ts";

/** What the take-over needs of the journal. */
interface TakeoverTarget {
  find(key: AttachmentKey): AttachmentRecord | undefined;
  begin(record: AttachmentRecord): Promise<void>;
  /** Containers that are ours although no record says what they have. */
  suspect(ids: readonly ContainerId[]): Promise<void>;
  leak(entry: LeakEntry): Promise<void>;
  markImported(): Promise<void>;
}

interface TakeoverOptions {
  readonly multusDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Puts everything Multus has attached into the journal, once. Undefined when that failed: the next start tries again. */
export async function takeOverMultus(
  target: TakeoverTarget,
  options: TakeoverOptions,
): Promise<ImportReport | undefined> {
  const { multusDir, logger } = options;
  try {
    const report = await importMultusCache(multusDir);
    const fresh = report.records.filter((record) => target.find(record) === undefined);
    await Promise.all(fresh.map((record) => target.begin(record)));
    await writeProblemsDown(target, report, options);
    await target.markImported();
    const facts = { folder: multusDir, attachments: fresh.length, problems: report.problems.length };
    logger.info("Took over what Multus had attached", facts);
    return report;
  } catch (cause) {
    // Deletes must be served even now. Until it is done every unknown container counts as lost, not as never added.
    const facts = { folder: multusDir, error: String(cause) };
    logger.error("Multus' cache could not be taken over; the next start tries again", facts);
    return undefined;
  }
}

/** A container we know a part of goes into the leak ledger for the rest; one we know nothing of takes the rebuild path at its DEL. */
async function writeProblemsDown(
  target: TakeoverTarget,
  report: ImportReport,
  options: TakeoverOptions,
): Promise<void> {
  const known = new Map(report.records.map((record) => [record.containerId, record]));
  const unknown: ContainerId[] = [];
  for (const { file, containerId, reason } of report.problems) {
    options.logger.warn("A file of Multus' cache cannot be used and stays where it is", { file, reason });
    const record = containerId === undefined ? undefined : known.get(containerId);
    if (record !== undefined) await target.leak(partlyKnown(record, `${file}: ${reason}`, options.clock));
    else if (containerId !== undefined) unknown.push(containerId);
  }
  await target.suspect(unknown);
}

function partlyKnown(record: AttachmentRecord, reason: string, clock: Clock): LeakEntry {
  const { pod, netns, cniPath, bootId, containerId, ifname } = record;
  return unknownLeak({ containerId, ifname }, { pod, netns, cniPath, bootId, reason }, clock);
}
