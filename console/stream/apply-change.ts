import type { ConsoleChange, ConsoleDelta, ConsoleSnapshot } from "../../src/wire/console-view.ts";
import type { DecisionCard } from "../../src/wire/console-decision.ts";
import type { StormView } from "../../src/wire/console-storm.ts";

/** The snapshot after a change. Parts that did not change stay the same objects, so that nothing draws them again. */
export function applyChange(before: ConsoleSnapshot, change: ConsoleChange): ConsoleSnapshot {
  const { nodes, decisions, storm, ...whole } = change;
  return {
    ...before,
    ...whole,
    nodes: nodes === undefined ? before.nodes : applyDelta(before.nodes, nodes).toSorted(byName),
    decisions: decisions === undefined ? before.decisions : applyDelta(before.decisions, decisions).toSorted(byWeight),
    storm: storm === undefined ? before.storm : withPoints(before.storm, storm),
  };
}

interface Named {
  readonly name: string;
}

function applyDelta<T extends Named>(before: readonly T[], { changed, gone }: ConsoleDelta<T>): readonly T[] {
  const byOwnName = new Map(before.map((entry) => [entry.name, entry]));
  for (const name of gone) byOwnName.delete(name);
  for (const entry of changed) byOwnName.set(entry.name, entry);
  return [...byOwnName.values()];
}

function byName(a: Named, b: Named): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** Cards that wait for a person first, then open ones, then the newest. */
function byWeight(a: DecisionCard, b: DecisionCard): number {
  return (
    Number(b.needsPerson) - Number(a.needsPerson) ||
    Number(b.isOpen) - Number(a.isOpen) ||
    b.createdMs - a.createdMs ||
    byName(a, b)
  );
}

function withPoints(before: StormView, after: StormView): StormView {
  const newest = after.points.at(-1)?.atMs ?? before.points.at(-1)?.atMs ?? 0;
  const firstNew = after.points[0]?.atMs ?? Infinity;
  const kept = before.points.filter(({ atMs }) => atMs < firstNew && atMs >= newest - after.spanMs);
  return { ...after, points: [...kept, ...after.points] };
}
