import { timeText } from "../../../../guard/json-values.ts";
import { plural } from "../../../terminal/plural.ts";
import { ageText } from "../../../terminal/span.ts";
import { list, md, table, textBlock } from "../markdown.ts";
import type { ClusterStorm } from "./cluster-storm.ts";
import { stormNumbers, waitAt } from "./storm-numbers.ts";
import type { StormReport } from "./storm-report.ts";

/** More are in the flight recorders and in -o json. */
const namedMax = 10;
const rowsMax = 40;

/** The post-mortem of a storm that Levee held by itself. It has only what flight recorders and metrics hold. */
export function stormText(report: StormReport): string {
  const { storm } = report;
  const sections: readonly (readonly [string, string])[] = [
    ["Summary", `${summaryOf(report)}\n`],
    ["Timeline", table(["when", "what"], timelineOf(storm))],
    ["Root cause (chain)", chainOf(storm)],
    ["Nodes", nodesOf(report)],
    ["What failed", failedOf(storm)],
    ["What was done", list(doneBy(report))],
    ["Numbers", table(["number", "of what", "by"], stormNumbers(report))],
    ["What this report cannot see", list(unseenBy(report))],
    ["What to do next", list(nextOf(report))],
  ];
  const body = sections.map(([title, text]) => `## ${title}\n\n${text === "" ? "Nothing.\n" : text}`);
  return `# Post-mortem: a storm of ${storm.pods} pods on ${placeOf(storm)}\n\n${headOf(report)}\n${body.join("\n")}`;
}

function headOf(report: StormReport): string {
  const { pods, fromMs, toMs, namespaces, attached } = report.storm;
  const without = pods - attached;
  return table(
    ["Field", "Value"],
    [
      ["**Date**", timeText(fromMs).slice(0, 10)],
      ["**Duration**", `${timeText(fromMs)} to ${timeText(toMs)} (${ageText(toMs - fromMs)})`],
      [
        "**Severity**",
        without === 0
          ? `Every pod got its network; the longest wait was ${ageText(waitAt(report.storm, 1))}`
          : `${plural(without, "pod")} had no network when the line was empty`,
      ],
      ["**Affected**", `${pods} pods of ${plural(namespaces.length, "namespace")} on ${placeOf(report.storm)}`],
      ["**Status**", statusOf(report)],
    ],
  );
}

function placeOf({ nodes }: ClusterStorm): string {
  const names = [...new Set(nodes.map(({ node }) => node))];
  return names.length === 1 ? md(names[0] ?? "") : `${names.length} nodes`;
}

/** Levee held it, unless pods still wait or the guard proposed something. */
function statusOf({ now, decisions }: StormReport): string {
  const waiting = now.filter((node) => node.waiting > 0);
  if (waiting.length > 0)
    return `It goes on: ${waiting.map(({ node, waiting: pods }) => `${pods} wait on ${md(node)}`).join(", ")}`;
  if (!("value" in decisions)) return "Over: Levee held it. Whether there was a Decision is not known";
  if (decisions.value.length === 0) return "Over: Levee held it, and no Decision was needed";
  return `Over. The guard proposed ${decisions.value.map(({ name, phase }) => `${md(name)} (${phase})`).join(", ")}`;
}

function summaryOf(report: StormReport): string {
  const { pods, namespaces, nodes, lineMax, attached, fromMs, toMs, waits } = report.storm;
  const [first] = namespaces;
  const [busiest] = nodes;
  const most = first === undefined ? "" : ` Most of them, ${first[1]}, are of ${md(first[0])}.`;
  const where =
    nodes.length === 1 || busiest === undefined
      ? ""
      : ` The busiest node was ${md(busiest.node)}, with ${busiest.storm.pods}.`;
  const line = lineMax === 0 ? "" : ` At most ${lineMax} stood in line on one node.`;
  const wait = waits.length === 0 ? "" : ` The longest wait for a turn was ${ageText(waitAt(report.storm, 1))}.`;
  return `Within ${ageText(toMs - fromMs)} ${pods} pods asked for their network on ${placeOf(report.storm)} faster than the plugins could serve them.${most}${where}${line}${wait} ${attached} of them got their network in that time. Levee itself removed no pod and changed no limit.`;
}

function timelineOf({ fromMs, toMs, moments, nodes }: ClusterStorm): readonly (readonly string[])[] {
  const where = (node: string): string => (nodes.length === 1 ? "" : ` on ${md(node)}`);
  const rows = [
    { atMs: fromMs, what: "**The storm began**" },
    ...nodes
      .slice(0, namedMax)
      .flatMap(({ node, storm }) => [
        { atMs: storm.fromMs, what: `The first pod had to wait${where(node)}` },
        ...(storm.lineMax === 0
          ? []
          : [{ atMs: storm.lineMaxMs, what: `The line was longest${where(node)}: ${storm.lineMax}` }]),
        { atMs: storm.toMs, what: `The last pod left the line${where(node)}` },
      ]),
    ...moments.slice(0, rowsMax).map(({ atMs, what, detail, node }) => ({
      atMs,
      what: `${md(detail === "" ? what : `${what}: ${detail}`)}${where(node)}`,
    })),
    { atMs: toMs, what: "**The storm was over**" },
  ];
  return rows.toSorted((left, right) => left.atMs - right.atMs).map(({ atMs, what }) => [timeText(atMs), what]);
}

function chainOf({ namespaces, pods, lineMax, oomKills, held }: ClusterStorm): string {
  const from = namespaces.slice(0, 3).map(([namespace, count]) => `${count} of ${namespace}`);
  const lines = [
    `${pods} pods start at once (${from.join(", ")})`,
    "→ kubelet asks for the network of each, and again after each failure",
    `→ Levee lets as many through as the node bears; the others wait in line${lineMax === 0 ? "" : ` (up to ${lineMax} on one node)`}`,
    ...(oomKills === 0 ? [] : [`→ the kernel kills ${oomKills} plugins for memory; Levee lets fewer run at once`]),
    ...(held === 0 ? [] : [`→ ${held} pods fail and are answered from memory, so that they cost nothing`]),
    "→ the line empties",
  ];
  return textBlock(lines);
}

function nodesOf({ storm }: StormReport): string {
  const rows = storm.nodes
    .slice(0, rowsMax)
    .map(({ node, storm: own }) => [
      md(node),
      ...[own.pods, own.lineMax].map(String),
      ageText(waitAt(own, 1)),
      ...[own.attached, own.held, own.oomKills, own.leaks].map(String),
    ]);
  const headings = ["node", "pods", "longest line", "longest wait", "attached", "held back", "plugins killed", "leaks"];
  const more = storm.nodes.length - rows.length;
  return `${table(headings, rows)}${more > 0 ? `\n${more} more are in -o json.\n` : ""}`;
}

function failedOf({ failures, plugins }: ClusterStorm): string {
  const rows = [
    ...failures.slice(0, namedMax).map(([why, times]) => [String(times), "calls", md(why)]),
    ...plugins.slice(0, namedMax).map(([what, times]) => [String(times), "runs of a plugin", md(what)]),
  ];
  return table(["times", "what", "why, or which"], rows);
}

function doneBy({ storm, decisions }: StormReport): readonly string[] {
  const { waits, held, holdMsMax, attached } = storm;
  const turns = waits.reduce((sum, [, times]) => sum + times, 0);
  const proposed = "value" in decisions ? decisions.value : [];
  return [
    `Levee put the pods in line and gave ${plural(turns, "turn")}; ${attached} pods got their network.`,
    ...(held === 0 ? [] : [`It held ${plural(held, "failing pod")} back, for up to ${ageText(holdMsMax)} each.`]),
    ...proposed.map(({ name, cause, phase }) => `The guard proposed ${md(name)} (${cause}): ${phase}.`),
    "What people did by hand is not in a flight recorder. Add it here.",
  ];
}

function unseenBy(report: StormReport): readonly string[] {
  const { silent, cut, now, past, storm, decisions, nodesTold, isWhole } = report;
  const started = now.filter(({ startedMs }) => startedMs > storm.fromMs).map(({ node }) => md(node));
  return [
    ...silent
      .slice(0, rowsMax)
      .map(({ node, why, hint }) => `Node ${md(node)} could not be asked: ${md(why)}. Try: ${md(hint)}`),
    ...(silent.length > rowsMax ? [`${silent.length - rowsMax} more nodes could not be asked`] : []),
    ...(cut.length === 0
      ? []
      : [
          `The flight recorders of ${cut.map(md).join(", ")} begin after the storm did, so their numbers may be too small`,
        ]),
    ...(started.length === 0
      ? []
      : [`The daemons of ${started.join(", ")} started after the storm began: their counters do not cover all of it`]),
    ...("why" in decisions ? [`Decisions of the guard: ${md(decisions.why)}`] : []),
    ...(past === undefined ? ["Alerts, and memory over time: no Prometheus was named (--prometheus)"] : []),
    ...(past !== undefined && "why" in past ? [`Prometheus did not tell: ${md(past.why)}`] : []),
    ...(isWhole ? [] : [`Nodes other than the ${nodesTold} that were named`]),
  ];
}

function nextOf({ storm, now, decisions }: StormReport): readonly string[] {
  const { namespaces, failures, oomKills, leaks } = storm;
  const [first] = namespaces;
  const proposed = "value" in decisions ? decisions.value : [];
  const tight = now.filter(({ limitHits, kills }) => limitHits > 0 || kills > 0).map(({ node }) => md(node));
  return [
    ...proposed.map(({ name }) => `levee report ${md(name)} writes the post-mortem of that Decision`),
    ...(first === undefined ? [] : [`Find out what started ${first[1]} pods of ${md(first[0])} at once`]),
    ...(failures.length === 0 ? [] : ["Repair what failed; levee why NAMESPACE/POD tells the story of one pod"]),
    ...(oomKills === 0 ? [] : ["Give the runtime's cgroup more memory, or lower attachCeiling"]),
    ...(tight.length === 0 ? [] : [`The daemon's memory reached its limit on ${tight.join(", ")}: give it more`]),
    ...(leaks === 0 ? [] : ["levee leaks shows what is left behind"]),
    "Name what the site depends on in criticalPods, so that it goes first next time",
  ];
}
