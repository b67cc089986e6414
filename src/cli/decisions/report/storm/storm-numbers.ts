import type { NodeStorm } from "../../../../state/recorder/node-storm.ts";
import { ageText } from "../../../terminal/span.ts";
import { md } from "../markdown.ts";
import type { ClusterStorm } from "./cluster-storm.ts";
import type { NodeNow } from "./node-now.ts";
import type { StormPast } from "./storm-past.ts";
import type { StormReport } from "./storm-report.ts";

type Row = readonly [number: string, what: string, by: string];

/** Alerts of the seed's outage were 45. */
const alertsMax = 20;

/** Every number of the report, with who counted it. */
export function stormNumbers({ storm, now, past }: StormReport): readonly Row[] {
  return [
    ...recorderRows(storm).map(([value, what]): Row => [String(value), what, "flight recorders"]),
    ...metricRows(now).map(([value, what]): Row => [String(value), what, "the daemons' metrics, since they started"]),
    ...(past !== undefined && "value" in past
      ? pastRows(past.value).map(([value, what]): Row => [String(value), what, "Prometheus"])
      : []),
  ];
}

/** The wait that a share of the turns did not exceed. */
export function waitAt({ waits }: Pick<NodeStorm, "waits">, share: number): number {
  const turns = waits.reduce((sum, [, times]) => sum + times, 0);
  let left = Math.floor((turns - 1) * share);
  for (const [waitMs, times] of waits) {
    if (left < times) return waitMs;
    left -= times;
  }
  return 0;
}

type Fact = readonly [value: number | string, what: string];

function recorderRows(storm: ClusterStorm): readonly Fact[] {
  const turns = storm.waits.reduce((sum, [, times]) => sum + times, 0);
  const halves: readonly Fact[] = [
    [ageText(waitAt(storm, 0.5)), "half of the waits were at most so long"],
    [ageText(waitAt(storm, 1)), "longest wait"],
  ];
  return [
    [storm.pods, "pods that waited"],
    [storm.lineMax, "most in line at once, on one node"],
    [turns, "turns that were given"],
    ...(turns === 0 ? [] : halves),
    ...storm.classes
      .filter(({ name }) => name !== "")
      .map(({ name, waitMsMax }): Fact => [ageText(waitMsMax), `longest wait of ${md(name)} pods`]),
    [storm.attached, "pods that got their network"],
    [storm.held, "pods that failed and were held back"],
    [storm.oomKills, "plugins killed for memory"],
    [storm.hung, "plugins that hung"],
    [storm.leaks, "things left behind (levee leaks)"],
  ];
}

function metricRows(now: readonly NodeNow[]): readonly Fact[] {
  if (now.length === 0) return [];
  const sum = (of: (node: NodeNow) => number): number => now.reduce((total, node) => total + of(node), 0);
  const largest = now.reduce((left, right) => (right.memoryBytes > left.memoryBytes ? right : left));
  const limit = largest.memoryLimitBytes === undefined ? "" : `, whose limit is ${mibText(largest.memoryLimitBytes)}`;
  return [
    [sum(({ kills }) => kills), "processes killed in the daemons' containers"],
    [sum(({ limitHits }) => limitHits), "times that a daemon's memory reached its limit"],
    [sum(({ refused }) => refused), "ADDs that found no room"],
    [sum(({ expired }) => expired), "ADDs that waited their whole time"],
    [sum(({ held }) => held), "ADDs that were answered from memory"],
    [sum(({ waiting }) => waiting), "ADDs that wait now"],
    [mibText(largest.memoryBytes), `largest memory of a daemon now, on ${md(largest.node)}${limit}`],
    [sum(({ leaks }) => leaks), "leaks now"],
  ];
}

function pastRows({ waitingMax, memoryShareMax, kills, refused, alerts }: StormPast): readonly Fact[] {
  const firing = alerts.reduce((sum, [, count]) => sum + count, 0);
  const names = alerts.slice(0, alertsMax).map(([name, count]) => `${md(name)} ${count}`);
  return [
    ...(waitingMax === undefined ? [] : [[waitingMax, "most in line at once, on all nodes"] as const]),
    ...(memoryShareMax === undefined
      ? []
      : [[`${Math.round(memoryShareMax * 100)} %`, "largest share of its limit that a daemon's memory took"] as const]),
    ...(kills === undefined ? [] : [[kills, "processes killed in the daemons' containers during the storm"] as const]),
    ...(refused === undefined ? [] : [[refused, "ADDs that found no room during the storm"] as const]),
    [firing, names.length === 0 ? "alerts fired" : `alerts fired: ${names.join(", ")}`],
  ];
}

function mibText(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
