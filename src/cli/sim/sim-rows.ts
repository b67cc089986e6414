import type { SimApiLoad, SimPodRecord, SimStormEnd } from "../../sim/storm/sim-storm-end.ts";
import type { SimStormFault } from "../../sim/storm/sim-storm-plan.ts";
import { waitMs } from "../../sim/storm/pod-wait.ts";
import type { CertificateRow } from "../storm/report/certificate.ts";
import { mibText } from "../storm/quantity.ts";
import { renderTable } from "../terminal/table.ts";
import { tookText } from "../terminal/span.ts";

/** What a person calls each implementation. */
const names = { "levee": "Levee", "multus-4.2.2": "Multus 4.2.2", "multus-4.3.0": "Multus 4.3.0" } as const;

/** One sentence. */
export function simVerdict({ plan, broken, isInterrupted }: SimStormEnd): string {
  const who = `${names[plan.impl]}${plan.connectionLimit === undefined ? "" : ` with a connection limit of ${plan.connectionLimit}`}`;
  if (isInterrupted) return `${who}: ${plan.title}: ended early, this is what was known by then`;
  if (broken.length === 0) return `${who} holds ${plan.title}`;
  return `${who} does not hold ${plan.title}: ${broken.join("; ")}`;
}

/** The figures of the whole cluster. */
export function simRows(end: SimStormEnd): readonly CertificateRow[] {
  const { nodes, records, api } = end;
  const ordinary = records.filter(({ pod }) => !pod.isCritical);
  const critical = records.filter(({ pod }) => pod.isCritical);
  const sum = (pick: (node: SimStormEnd["nodes"][number]) => number): number =>
    nodes.reduce((total, node) => total + pick(node), 0);
  const [refusals, kills, restarts, leaks] = [
    sum((node) => node.refusals),
    sum(({ oomKills }) => oomKills),
    sum((node) => node.restarts),
    sum((node) => node.leaks),
  ];
  const firstMs = nodes.map(({ firstKillMs }) => firstKillMs ?? Infinity).reduce((a, b) => Math.min(a, b), Infinity);
  return [
    ["attached", attachedText(ordinary)],
    ...(critical.length === 0 ? [] : [["critical pods", waitsText(critical, end.plan.faults)] as const]),
    ["refusals", refusals === 0 ? "none" : `${refusals} ADDs that the kubelet tried again`],
    ["kills, restarts", `${kills}${kills === 0 ? "" : `, the first after ${tookText(firstMs)}`}; ${restarts}`],
    ["left behind", leaks === 0 ? "nothing" : `${leaks} addresses`],
    ["API server", apiText(api, "the daemons")],
  ];
}

/** What happened on each node, the busiest first. */
export function simNodesTable(end: SimStormEnd, rowsMax: number): string {
  const { nodes } = end;
  const rows = nodes
    .toSorted(
      (one, other) => other.oomKills - one.oomKills || other.pods - one.pods || (one.name < other.name ? -1 : 1),
    )
    .slice(0, rowsMax)
    .map((node) => [
      node.name,
      ...nodeAttached(end, node.name),
      node.tookMs === undefined ? "never" : tookText(node.tookMs),
      `${node.refusals}`,
      `${node.oomKills}`,
      `${mibText(node.peakBytes)} (${mibText(node.anonPeakBytes)})`,
      tookText(node.daemonCpuMs),
    ]);
  const header = ["NODE", "CRITICAL", "ATTACHED", "LAST AFTER", "REFUSALS", "KILLS", "MEMORY (ITS OWN)", "CPU"];
  const more = nodes.length > rowsMax ? `${nodes.length - rowsMax} more nodes: -o json\n` : "";
  return `${renderTable(header, rows)}${more}`;
}

/** How many critical pods and how many others of a node are attached, apart as in the rows above. */
export function nodeAttached({ records }: SimStormEnd, name: string): readonly [critical: string, others: string] {
  const [critical, others] = [true, false].map((isCritical) => {
    const mine = records.filter(({ pod }) => pod.node === name && pod.isCritical === isCritical);
    const attached = mine.filter(({ attachedMs }) => attachedMs !== undefined);
    return mine.length === 0 ? "–" : `${attached.length} of ${mine.length}`;
  });
  return [critical ?? "", others ?? ""];
}

function attachedText(records: readonly SimPodRecord[]): string {
  const timesMs = attachTimesMs(records);
  const missing = records.length - timesMs.length;
  if (timesMs.length === 0) return `none of ${records.length}`;
  const at = (share: number): string => tookText(timesMs[Math.ceil(timesMs.length * share) - 1] ?? 0);
  const whole = `${timesMs.length} of ${records.length}`;
  return missing === 0
    ? `${whole}: half after ${at(0.5)}, 90 % after ${at(0.9)}, all after ${at(1)}`
    : `${whole}, the last of these after ${at(1)}`;
}

/** As the verdict counts them. */
function waitsText(records: readonly SimPodRecord[], faults: readonly SimStormFault[]): string {
  const waits = records.flatMap((record) => waitMs(record, faults) ?? []).toSorted((left, right) => left - right);
  const whole = `${waits.length} of ${records.length} attached`;
  const middle = waits[Math.floor((waits.length - 1) / 2)];
  const last = waits.at(-1);
  return middle === undefined || last === undefined
    ? whole
    : `${whole}; waited ${tookText(middle)} median, ${tookText(last)} at most`;
}

/** When each pod was attached, in order. */
export function attachTimesMs(records: readonly SimPodRecord[]): readonly number[] {
  return records.flatMap(({ attachedMs }) => attachedMs ?? []).toSorted((left, right) => left - right);
}

export function apiText({ lists, watches, gets, writes, perSecondMax }: SimApiLoad, who: string): string {
  const all = lists + watches + gets + writes;
  return `${all} requests of ${who}, at most ${perSecondMax} in one second (${lists} lists, ${watches} watches, ${gets} reads, ${writes} writes)`;
}
