import type { ContainerId } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { AttachmentKey, AttachmentRecord } from "../journal/attachment-record.ts";
import { unknownLeak, type LeakEntry } from "../journal/leak-ledger.ts";
import { importMultusCache, type ImportReport } from "./multus-cache.ts";

/** The part of the journal that the take-over uses. */
interface TakeoverTarget {
  find(key: AttachmentKey): AttachmentRecord | undefined;
  begin(record: AttachmentRecord): Promise<void>;
  /** Adds containers that belong to Levee but have no record. */
  suspect(ids: readonly ContainerId[]): Promise<void>;
  leak(entry: LeakEntry): Promise<void>;
  markImported(): Promise<void>;
}

interface TakeoverOptions {
  readonly multusDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Puts everything that Multus has attached into the journal, once. Undefined after a failure; the next start tries
 * again.
 */
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
    // DELs must work even now. Until the import succeeds, every unknown container counts as lost, not as never added.
    const facts = { folder: multusDir, error: String(cause) };
    logger.error("Cannot take over Multus' cache; the next start tries again", facts);
    return undefined;
  }
}

/** A partly known container gets a leak for the rest. The DEL of a fully unknown one rebuilds its record. */
async function writeProblemsDown(
  target: TakeoverTarget,
  report: ImportReport,
  options: TakeoverOptions,
): Promise<void> {
  const known = new Map(report.records.map((record) => [record.containerId, record]));
  const unknown: ContainerId[] = [];
  for (const { file, containerId, reason } of report.problems) {
    options.logger.warn("Cannot use a file of Multus' cache; leaving it in place", { file, reason });
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
