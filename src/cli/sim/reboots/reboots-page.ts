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

/** The reasons that held the fleet longest, and the time in which a node was allowed and nobody looked. */
function reasonsPlot(end: RebootEnd): Plot {
  const codes = [...end.closedMs]
    .filter(([code]) => code !== openCode)
    .toSorted(([, one], [, other]) => other - one)
    .map(([code]) => code);
  const lineOf = (name: string, code: string, colour: PlotLine["colour"]): PlotLine => {
    return { name, colour, points: over(end, ({ held }) => held.get(code) ?? 0) };
  };
  return {
    title: "Waiting nodes, by what holds them",
    xUnit: " min",
    yUnit: "",
    lines: [
      ...colours.flatMap((colour, at) => {
        const code = codes[at];
        return code === undefined ? [] : [lineOf(code, code, colour)];
      }),
      lineOf("allowed, nobody looked yet", openCode, "limit"),
    ],
  };
}

function requestsPlot(end: RebootEnd): Plot {
  return {
    title: "Requests of guards and daemons to the API server, in all",
    xUnit: " min",
    yUnit: "",
    lines: [{ name: "requests", colour: "first", points: over(end, ({ requests }) => requests), isArea: true }],
  };
}
