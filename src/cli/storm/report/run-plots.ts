import type { Plot, PlotLine, PlotPoint } from "./plot.ts";
import type { Moment } from "../series.ts";
import { site } from "../site.ts";
import { waitsMs, type StormRun } from "../verdict.ts";

/** The plots of one storm. */
export function runPlots(run: StormRun): readonly Plot[] {
  const { plan, moments } = run;
  const endS = (moments.at(-1)?.atMs ?? 0) / 1000;
  const over = (pick: (moment: Moment) => number): readonly PlotPoint[] =>
    moments.map((moment) => [moment.atMs / 1000, pick(moment)]);
  const mark = plan.second.pods === 0 ? {} : { mark: { x: plan.second.afterMs / 1000, text: "second namespace" } };
  const time = { xUnit: " s", ...mark };
  return [
    {
      title: "Pods attached",
      yUnit: "",
      ...time,
      lines: [
        { name: "the storm", colour: "first", points: over(({ attached }) => attached), isArea: true },
        ...secondLine(
          run,
          over(({ secondAttached }) => secondAttached),
        ),
      ],
    },
    {
      title: "Pods waiting",
      yUnit: "",
      ...time,
      lines: [
        { name: "the storm", colour: "first", points: over(({ waiting }) => waiting), isArea: true },
        ...secondLine(
          run,
          over(({ secondWaiting }) => secondWaiting),
        ),
        { name: "failed, until kubelet tries again", colour: "third", points: over(({ backingOff }) => backingOff) },
      ],
    },
    {
      title: "Memory of the daemon's cgroup",
      yUnit: " MiB",
      ...time,
      lines: [
        { name: "all", colour: "first", points: over(({ usageBytes }) => usageBytes / mibBytes), isArea: true },
        { name: "in use", colour: "third", points: over(({ workingBytes }) => workingBytes / mibBytes) },
        { name: "its own", colour: "second", points: over(({ anonBytes }) => anonBytes / mibBytes) },
        {
          name: "limit",
          colour: "limit",
          points: [
            [0, plan.limitBytes / mibBytes],
            [endS, plan.limitBytes / mibBytes],
          ],
        },
      ],
    },
    waitPlot(run),
  ];
}

const mibBytes = 1024 ** 2;

function secondLine({ plan }: StormRun, points: readonly PlotPoint[]): readonly PlotLine[] {
  return plan.second.pods === 0 ? [] : [{ name: "the second namespace", colour: "second", points }];
}

/** The share of pods that waited no longer than each time. */
function waitPlot(run: StormRun): Plot {
  const { second } = run.plan;
  return {
    title: "Waits: share of the pods attached within this time",
    ...(second.pods === 0 ? {} : { mark: { x: second.withinMs / 1000, text: "allowed to the second namespace" } }),
    xUnit: " s",
    yUnit: " %",
    lines: [
      {
        name: "the storm",
        colour: "first",
        points: sharePoints(waitsMs(run.records, site.namespaces.burst), run.burst.pods),
      },
      ...secondLine(run, sharePoints(waitsMs(run.records, site.namespaces.second), run.second.pods)),
    ],
  };
}

/** Points of a step function. */
export function sharePoints(sortedMs: readonly number[], pods: number): readonly PlotPoint[] {
  return [
    [0, 0],
    ...sortedMs.flatMap((ms, at): readonly PlotPoint[] => [
      [ms / 1000, (at / pods) * 100],
      [ms / 1000, ((at + 1) / pods) * 100],
    ]),
  ];
}
