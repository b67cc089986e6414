import type { Paint } from "../../terminal/paint.ts";
import { tookText } from "../../terminal/span.ts";
import { stormPlanText } from "../plan.ts";
import { bytesText, mibText } from "../quantity.ts";
import type { StormRun, Waits } from "../verdict.ts";

/** What the machine is on which a storm was held. */
export interface MachineFacts {
  readonly levee: string;
  readonly wallMs: number;
  readonly host: string;
  readonly kernel: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryBytes: number;
  /** Of the disk on which the daemon's files were. */
  readonly readAheadKib: number | undefined;
  readonly nodeReadAheadKib: number | undefined;
  /** Whether the daemon's files were on a disk of the storm's own. */
  readonly hasOwnDisk: boolean;
  readonly cgroupVersion: number | undefined;
  readonly load: number;
}

/** One storm, or several until one broke. */
export interface Certificate {
  readonly node: MachineFacts;
  readonly runs: readonly StormRun[];
  /** Whether the sizes were to grow until one did not hold. */
  readonly isUntilItBreaks: boolean;
  readonly warnings: readonly string[];
}

/** The last one that held. */
function lastHeld({ runs }: Certificate): StormRun | undefined {
  return runs.findLast(({ broken }) => broken.length === 0);
}

/** The promise that was put to the test: one size, or with growing ones the first. */
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
    ? `holds ${stormPlanText(held.plan)} on this node, and did not break up to there`
    : `holds ${stormPlanText(held.plan)} on this node, and breaks at ${broke.plan.pods}: ${reason}`;
}

const noPlan = { pods: 0, limitBytes: 0, cpuMillis: undefined };

/** For people: the verdict, then what was measured in the last storm, then the sizes. */
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
    ["failed ADDs", run.failedAdds === 0 ? "none" : `${run.failedAdds}, tried again as kubelet does`],
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
    : `${tookText(medianMs)} in the middle, ${tookText(maxMs)} at most`;
}

/** To look whether anything is left takes a moment too. */
const lookMs = 2000;

function deletedText({ notDeleted, deleteMs, tidyMs }: StormRun): string {
  const answered = `${notDeleted === 0 ? "all" : `all but ${notDeleted}`} in ${tookText(deleteMs)}`;
  return tidyMs > deleteMs + lookMs ? `${answered}, some put off and carried out in ${tookText(tidyMs)}` : answered;
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
  return hasOwnDisk ? `${text} on a disk of its own (the node's: ${nodeReadAheadKib ?? "unknown"})` : text;
}

function rowsText(rows: readonly CertificateRow[]): string {
  return rows.map(([name, value]) => `  ${name.padEnd(18)}${value}\n`).join("");
}

/** A line for each size. */
export function sizesText(runs: readonly StormRun[]): string {
  return rowsText(
    runs.map((run): CertificateRow => {
      const took = run.tookMs === undefined ? "" : `in ${tookText(run.tookMs)}, `;
      return [`${run.plan.pods} pods`, `${holds(run) ? "held" : "broke"}: ${took}${mibText(run.peakBytes)} at most`];
    }),
  );
}

/** For programs; the series of moments is left to the report. */
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
