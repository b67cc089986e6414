import type { SimMoment, SimNodeEnd, SimStormEnd } from "../../sim/storm/sim-storm-end.ts";
import { waitMs } from "../../sim/storm/pod-wait.ts";
import { escapeHtml } from "../../base/plain-text.ts";
import { plotFigure, type Plot, type PlotPoint } from "../storm/report/plot.ts";
import { rowsTable, stormPage } from "../storm/report/report-html.ts";
import { mibText } from "../storm/quantity.ts";
import { tookText } from "../terminal/span.ts";
import { attachTimesMs, nodeAttached, simRows, simVerdict } from "./sim-rows.ts";

const mibBytes = 1024 ** 2;
/** A page with the memory of a hundred nodes would not be read. */
const nodePlotsMax = 12;

/** A simulated storm as a self-contained page with plots. */
export function simPage(end: SimStormEnd): string {
  const plots = [attachedPlot(end), waitingPlot(end), waitsPlot(end), requestsPlot(end), ...memoryPlots(end)];
  return stormPage({
    isGood: end.broken.length === 0 && !end.isInterrupted,
    kind: "A storm, simulated",
    verdict: simVerdict(end),
    body: `${end.broken.length === 0 ? "" : `<ul class="broken">${end.broken.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul>`}
<div class="plots">
${plots.map(plotFigure).join("\n")}
</div>
${rowsTable(simRows(end))}
<h2>The nodes</h2>
${rowsTable(end.nodes.map((node) => [node.name, nodeText(end, node)]))}
<h2>The run</h2>
${rowsTable([
  ["seed", `${end.plan.seed}`],
  ["run", `${end.hash}, ${end.steps} steps`],
])}`,
  });
}

function nodeText(end: SimStormEnd, { name, tookMs, refusals, oomKills, peakBytes }: SimNodeEnd): string {
  const [critical, others] = nodeAttached(end, name);
  const after = tookMs === undefined ? "" : `, the last after ${tookText(tookMs)}`;
  const vital = critical === "–" ? "" : `; critical pods ${critical}`;
  return `${others} attached${after}${vital}; ${refusals} refusals, ${oomKills} kills, ${mibText(peakBytes)} at most`;
}

function over(end: SimStormEnd, pick: (moment: SimMoment) => number): readonly PlotPoint[] {
  return end.moments.map((moment) => [moment.atMs / 1000, pick(moment)]);
}

function attachedPlot(end: SimStormEnd): Plot {
  return {
    title: "Pods attached",
    xUnit: " s",
    yUnit: "",
    lines: [
      { name: "all others", colour: "first", points: over(end, ({ attached }) => attached), isArea: true },
      { name: "critical pods", colour: "second", points: over(end, ({ criticalAttached }) => criticalAttached) },
    ],
  };
}

function waitingPlot(end: SimStormEnd): Plot {
  return {
    title: "Pods waiting",
    xUnit: " s",
    yUnit: "",
    lines: [
      { name: "all others", colour: "first", points: over(end, ({ waiting }) => waiting), isArea: true },
      { name: "critical pods", colour: "second", points: over(end, ({ criticalWaiting }) => criticalWaiting) },
      {
        name: "daemons that are down",
        colour: "third",
        points: over(end, ({ nodes }) => nodes.filter(({ isUp }) => !isUp).length),
      },
    ],
  };
}

/** The share of the pods that waited no longer than each time. */
function waitsPlot({ records, plan }: SimStormEnd): Plot {
  const share = (isCritical: boolean): readonly PlotPoint[] => {
    const mine = records.filter(({ pod }) => pod.isCritical === isCritical);
    const waits = attachTimesMs(mine.map((record) => ({ ...record, attachedMs: waitMs(record, plan.faults) })));
    return waits.map((ms, at) => [ms / 1000, (100 * (at + 1)) / mine.length]);
  };
  return {
    title: "Waits: share of the pods attached within this time",
    xUnit: " s",
    yUnit: " %",
    lines: [
      { name: "all others", colour: "first", points: share(false) },
      { name: "critical pods", colour: "second", points: share(true) },
    ],
  };
}

function requestsPlot(end: SimStormEnd): Plot {
  const points = over(end, ({ requests }) => requests);
  return {
    title: "Requests of the daemons to the API server, in all",
    xUnit: " s",
    yUnit: "",
    lines: [{ name: "requests", colour: "first", points, isArea: true }],
  };
}

function memoryPlots(end: SimStormEnd): readonly Plot[] {
  const endS = (end.moments.at(-1)?.atMs ?? 0) / 1000;
  const limitMib = end.plan.limits.limitBytes / mibBytes;
  return end.plan.nodes.slice(0, nodePlotsMax).map((name, at) => {
    const mib = (key: "usageBytes" | "workingBytes" | "anonBytes"): readonly PlotPoint[] =>
      over(end, ({ nodes }) => (nodes[at]?.[key] ?? 0) / mibBytes);
    return {
      title: `Memory of the daemon's cgroup on ${name}`,
      xUnit: " s",
      yUnit: " MiB",
      lines: [
        { name: "all", colour: "first", points: mib("usageBytes"), isArea: true },
        { name: "in use", colour: "third", points: mib("workingBytes") },
        { name: "its own", colour: "second", points: mib("anonBytes") },
        {
          name: "limit",
          colour: "limit",
          points: [
            [0, limitMib],
            [endS, limitMib],
          ],
        },
      ],
    };
  });
}
