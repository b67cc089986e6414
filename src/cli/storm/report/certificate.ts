import type { Paint } from "../../terminal/paint.ts";
import { tookText } from "../../terminal/span.ts";
import { stormPlanText } from "../plan.ts";
import { bytesText, mibText } from "../quantity.ts";
import type { StormRun, Waits } from "../verdict.ts";

/** The machine that ran the storm. */
export interface MachineFacts {
  readonly levee: string;
  readonly wallMs: number;
  readonly host: string;
  readonly kernel: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryBytes: number;
  /** Read-ahead of the disk with the daemon's files. */
  readonly readAheadKib: number | undefined;
  readonly nodeReadAheadKib: number | undefined;
  /** Whether the daemon's files were on the storm's own disk. */
  readonly hasOwnDisk: boolean;
  readonly cgroupVersion: number | undefined;
  readonly load: number;
}

/** The result of one storm, or of growing storms until one broke. */
export interface Certificate {
  readonly node: MachineFacts;
  readonly runs: readonly StormRun[];
  /** Whether the sizes grow until one does not hold. */
  readonly isUntilItBreaks: boolean;
  readonly warnings: readonly string[];
}

/** The last storm that held. */
function lastHeld({ runs }: Certificate): StormRun | undefined {
  return runs.findLast(({ broken }) => broken.length === 0);
}

/** Whether the requested size held; with growing sizes, whether the first one held. */
export function isHeld(certificate: Certificate): boolean {
  return certificate.isUntilItBreaks ? lastHeld(certificate) !== undefined : certificate.runs.every(holds);
}

function holds({ broken }: StormRun): boolean {
  return broken.length === 0;
}

/** One sentence. */
export function verdictText(certificate: Certificate): string {
  const held = lastHeld(certificate);
  const broke = certificate.runs.find((run) => !holds(run));
  const reason = broke === undefined ? "" : broke.broken.join("; ");
  if (!certificate.isUntilItBreaks || held === undefined)
    return broke === undefined
      ? `holds ${stormPlanText(held?.plan ?? noPlan)} on this node`
      : `does not hold ${stormPlanText(broke.plan)} on this node: ${reason}`;
  return broke === undefined
    ? `holds ${stormPlanText(held.plan)} on this node, the largest size that was tried`
    : `holds ${stormPlanText(held.plan)} on this node, and breaks at ${broke.plan.pods}: ${reason}`;
}

const noPlan = { pods: 0, limitBytes: 0, cpuMillis: undefined };

/** For people: the verdict, the measurements of the last storm, then all sizes. */
export function certificateText(certificate: Certificate, paint: Paint): string {
  const isGood = isHeld(certificate);
  const last = certificate.runs.at(-1);
  const verdict = `${isGood ? "✓" : "×"} ${verdictText(certificate)}`;
  return [
    `${paint(isGood ? "green" : "red", paint("bold", verdict))}\n\n`,
    ...(last === undefined ? [] : [rowsText(runRows(last))]),
    ...(certificate.runs.length > 1 ? [`\n${sizesText(certificate.runs)}`] : []),
    `\n${rowsText(nodeRows(certificate.node))}`,
    ...certificate.warnings.map((warning) => `${paint("yellow", "‼")} ${warning}\n`),
  ].join("");
}

export type CertificateRow = readonly [name: string, value: string];

export function runRows(run: StormRun): readonly CertificateRow[] {
  const { plan } = run;
  return [
    [
      "attached",
      `${run.burst.attached} of ${run.burst.pods}${run.tookMs === undefined ? "" : ` in ${tookText(run.tookMs)}`}`,
    ],
    ["waits", waitsText(run.burst)],
    ...(plan.second.pods === 0 ? [] : [secondRow(run)]),
    ["failed ADDs", run.failedAdds === 0 ? "none" : `${run.failedAdds}, retried as kubelet does`],
    ...run.errors.map(({ message, count }): CertificateRow => ["", `${count} × ${message}`]),
    [
      "daemon's memory",
      `${mibText(run.peakBytes)} of ${mibText(plan.limitBytes)} at most; in use ${mibText(run.peakWorkingBytes)}, its own ${mibText(run.peakAnonBytes)}`,
    ],
    ["daemon's CPU", `${tookText(run.daemonCpuMs)}${plan.cpuMillis === undefined ? "" : ` at ${plan.cpuMillis}m`}`],
    ["kills, restarts", `${run.oomKills}, ${run.restarts}`],
    ["shims and plugins", `${mibText(run.shims.pssBytes)} of the host at most, in ${run.shims.processes} processes`],
    ["deleted", deletedText(run)],
    ["left behind", leftText(run)],
  ];
}

function secondRow({ plan, second }: StormRun): CertificateRow {
  const kind = plan.second.isCritical ? ", critical" : "";
  return [
    "second namespace",
    `${second.attached} of ${second.pods}${kind}, ${tookText(plan.second.afterMs)} in; ${waitsText(second)}`,
  ];
}

function waitsText({ medianMs, maxMs }: Waits): string {
  return medianMs === undefined || maxMs === undefined
    ? "none was attached"
    : `${tookText(medianMs)} median, ${tookText(maxMs)} at most`;
}

/** The look for leftovers itself takes a moment. */
const lookMs = 2000;

function deletedText({ notDeleted, deleteMs, tidyMs }: StormRun): string {
  const answered = `${notDeleted === 0 ? "all" : `all but ${notDeleted}`} in ${tookText(deleteMs)}`;
  return tidyMs > deleteMs + lookMs ? `${answered}, some of them carried out later, in ${tookText(tidyMs)}` : answered;
}

function leftText({ deletedTraces }: StormRun): string {
  const { leases, ports, interfaces, journalRecords, journalLeaks } = deletedTraces;
  const sum = leases + ports + interfaces + journalRecords + journalLeaks;
  return sum === 0
    ? "nothing: no address, no interface, no record"
    : `${leases} addresses, ${ports + interfaces} interfaces, ${journalRecords + journalLeaks} records`;
}

export function nodeRows(node: MachineFacts): readonly CertificateRow[] {
  return [
    [
      "node",
      `${node.host}, ${node.cores} × ${node.processor}, ${bytesText(Math.round(node.memoryBytes / 1024 ** 3) * 1024 ** 3)}`,
    ],
    [
      "",
      `Linux ${node.kernel}, cgroup v${node.cgroupVersion ?? "?"}, read-ahead ${readAheadText(node)}, load ${node.load} before`,
    ],
    ["when", `${new Date(node.wallMs).toISOString().slice(0, 16).replace("T", " ")} UTC, ${node.levee}`],
  ];
}

function readAheadText({ readAheadKib, nodeReadAheadKib, hasOwnDisk }: MachineFacts): string {
  const text = readAheadKib === undefined ? "unknown" : `${readAheadKib} KiB`;
  return hasOwnDisk ? `${text} on its own disk (the node's: ${nodeReadAheadKib ?? "unknown"})` : text;
}

export function rowsText(rows: readonly CertificateRow[]): string {
  return rows.map(([name, value]) => `  ${name.padEnd(18)}${value}\n`).join("");
}

/** One line per size. */
export function sizesText(runs: readonly StormRun[]): string {
  return rowsText(
    runs.map((run): CertificateRow => {
      const took = run.tookMs === undefined ? "" : `in ${tookText(run.tookMs)}, `;
      return [`${run.plan.pods} pods`, `${holds(run) ? "held" : "broke"}: ${took}${mibText(run.peakBytes)} at most`];
    }),
  );
}

/** For programs, without the series of moments, which only the report uses. */
export function certificateValue(certificate: Certificate): unknown {
  return {
    holds: isHeld(certificate),
    verdict: verdictText(certificate),
    podsHeld: lastHeld(certificate)?.plan.pods ?? 0,
    node: certificate.node,
    warnings: certificate.warnings,
    runs: certificate.runs.map(({ records: _records, moments: _moments, ...run }) => run),
  };
}
