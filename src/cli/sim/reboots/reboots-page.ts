import { openCode } from "../../../sim/reboot/open-code.ts";
import type { RebootEnd, RebootMoment } from "../../../sim/reboot/reboot-end.ts";
import { escapeHtml } from "../../../base/plain-text.ts";
import { plotFigure, type Plot, type PlotLine, type PlotPoint } from "../../storm/report/plot.ts";
import { rowsTable, stormPage } from "../../storm/report/report-html.ts";
import { ageText } from "../../terminal/span.ts";
import { heldByText, rebootsRows, rebootsVerdict } from "./reboots-rows.ts";

const colours = ["first", "second", "third"] as const;
const minuteMs = 60_000;

/** A simulated fleet with reboots as a self-contained page with plots. */
export function rebootsPage(end: RebootEnd): string {
  const plots = [progressPlot(end), reasonsPlot(end), requestsPlot(end)];
  const broken = end.broken.map((text) => `<li>${escapeHtml(text)}</li>`).join("");
  return stormPage({
    isGood: end.broken.length === 0 && !end.isInterrupted,
    kind: "Reboots, simulated",
    verdict: rebootsVerdict(end),
    body: `${broken === "" ? "" : `<ul class="broken">${broken}</ul>`}
<div class="plots">
${plots.map(plotFigure).join("\n")}
</div>
${rowsTable(rebootsRows(end))}
<h2>The nodes</h2>
${rowsTable(end.records.map((record) => [record.node, nodeText(record)]))}
<h2>The run</h2>
${rowsTable([
  ["seed", `${end.plan.seed}`],
  ["run", `${end.hash}, ${end.steps} steps`],
])}`,
  });
}

function nodeText({ dueMs, allowedMs, rebootedMs, backMs, heldMs }: RebootEnd["records"][number]): string {
  const moments = [
    ["allowed", allowedMs],
    ["rebooted", rebootedMs],
    ["back", backMs],
  ] as const;
  const passed = moments.map(([word, ms]) => (ms === undefined ? `not ${word}` : `${word} after ${ageText(ms)}`));
  const held = heldByText(heldMs, Number.POSITIVE_INFINITY);
  return `due after ${ageText(dueMs)}, ${passed.join(", ")}; held by ${held === "" ? "nothing" : held}`;
}

function over(end: RebootEnd, pick: (moment: RebootMoment) => number): readonly PlotPoint[] {
  return end.moments.map((moment) => [moment.atMs / minuteMs, pick(moment)]);
}

function progressPlot(end: RebootEnd): Plot {
  return {
    title: "Nodes",
    xUnit: " min",
    yUnit: "",
    lines: [
      { name: "back", colour: "first", points: over(end, ({ back }) => back), isArea: true },
      { name: "waiting", colour: "second", points: over(end, ({ waiting }) => waiting) },
      { name: "away", colour: "third", points: over(end, ({ away }) => away) },
    ],
  };
}

/** The three kinds of reasons that held most nodes for longest, and the time in which nobody used an open gate. */
function reasonsPlot(end: RebootEnd): Plot {
  const kinds = [...new Set([...end.closedMs.keys()].map(kindOf))].filter((kind) => kind !== openCode);
  const heldSum = (kind: string): number => end.moments.reduce((sum, moment) => sum + heldBy(moment, kind), 0);
  const sums = new Map(kinds.map((kind) => [kind, heldSum(kind)]));
  const most = kinds.toSorted((one, other) => (sums.get(other) ?? 0) - (sums.get(one) ?? 0));
  const lineOf = (name: string, kind: string, colour: PlotLine["colour"]): PlotLine => {
    return { name, colour, points: over(end, (moment) => heldBy(moment, kind)) };
  };
  return {
    title: "Waiting nodes, by what holds them",
    xUnit: " min",
    yUnit: "",
    lines: [
      ...most.slice(0, colours.length).map((kind, at) => lineOf(kind, kind, colours[at] ?? "first")),
      lineOf("allowed, nobody looked yet", openCode, "limit"),
    ],
  };
}

/** A reboot is seen as not Ready, as a cordon and as a new start: one line for all. */
function kindOf(code: string): string {
  return code.startsWith("OtherNode") ? "another node" : code;
}

function heldBy({ held }: RebootMoment, kind: string): number {
  return Math.max(0, ...[...held].filter(([code]) => kindOf(code) === kind).map(([, nodes]) => nodes));
}

function requestsPlot(end: RebootEnd): Plot {
  return {
    title: "Requests of guards and daemons to the API server, in all",
    xUnit: " min",
    yUnit: "",
    lines: [{ name: "requests", colour: "first", points: over(end, ({ requests }) => requests), isArea: true }],
  };
}
