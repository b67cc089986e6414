import type { StormPoint, StormView } from "../../src/wire/console-storm.ts";
import type { ConsoleSnapshot } from "../../src/wire/console-view.ts";
import { plotColours, type PlotData } from "../parts/plot-data.ts";

const classNames = ["critical", "ordinary", "penalty", "detach"] as const;
const others = "all others";

/** Waiting pods, a layer per namespace, those with most of them at the bottom. */
export function byNamespace(points: readonly StormPoint[], namespaces: readonly string[]): PlotData {
  const listed = namespaces.filter((name) => name !== "").slice(0, plotColours - 1);
  const known = new Set(listed);
  const rest = points.map(({ waiting, byNamespace: counts = {} }) =>
    Math.max(0, waiting - sum(Object.entries(counts).map(([name, count]) => (known.has(name) ? count : 0)))),
  );
  const series = listed.map((name) => ({ label: name, values: points.map((point) => point.byNamespace?.[name] ?? 0) }));
  const hasRest = rest.some((count) => count > 0) || series.length === 0;
  return {
    timesMs: points.map(({ atMs }) => atMs),
    series: hasRest ? [...series, { label: series.length === 0 ? "waiting" : others, values: rest }] : series,
    isStacked: true,
  };
}

/** Calls in line, a layer per class. */
export function byClass(points: readonly StormPoint[]): PlotData {
  return {
    timesMs: points.map(({ atMs }) => atMs),
    series: classNames.map((label, index) => ({ label, values: points.map((point) => point.byClass?.[index] ?? 0) })),
    isStacked: true,
  };
}

export function attached(points: readonly StormPoint[]): PlotData {
  const series = [
    { label: "attached", values: points.map((point) => point.attached) },
    { label: "waiting", values: points.map((point) => point.waiting) },
  ];
  return { timesMs: points.map(({ atMs }) => atMs), series, isStacked: false };
}

/** Points come every few seconds; the nodes' own counts come as they change, so a pod that waits is seen at once. */
export function waitingNow({ viewer, nodes, storm }: Pick<ConsoleSnapshot, "viewer" | "nodes" | "storm">): number {
  if (viewer.mode === "node" || nodes.length === 0) return storm.points.at(-1)?.waiting ?? 0;
  return sum(nodes.map(({ pods = 0 }) => pods));
}

/** A storm that has just begun is a line at the edge of an hour: the last minutes show it. */
export function fittingSpan(points: readonly StormPoint[]): "5 min" | "hour" {
  const first = points.find(({ waiting }) => waiting > 0);
  const last = points.at(-1);
  const isYoung = first !== undefined && last !== undefined && last.atMs - first.atMs < 4 * 60_000;
  return isYoung ? "5 min" : "hour";
}

export function lastMinutes(points: readonly StormPoint[], minutes: number): readonly StormPoint[] {
  const from = (points.at(-1)?.atMs ?? 0) - minutes * 60_000;
  return points.filter(({ atMs }) => atMs >= from);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Of the pods that the server names, and of the calls in line, which have no names; undefined when nothing waits. */
export function oldestWaitMs({ points, waiting, classes }: StormView): number | undefined {
  const atMs = points.at(-1)?.atMs ?? 0;
  const waits = [
    ...waiting.slice(0, 1).map(({ sinceMs }) => Math.max(0, atMs - sinceMs)),
    ...classes.filter((line) => line.waiting > 0).map((line) => line.oldestWaitMs),
  ];
  return waits.length === 0 ? undefined : Math.max(...waits);
}
