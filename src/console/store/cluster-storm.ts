import type { ClassLine, FailureLine, StormView } from "../../wire/console-storm.ts";
import type { PodBook } from "../view/pod-book.ts";
import { shownNamespaces, type StormCount, type StormRing } from "../view/storm-ring.ts";
import type { ClusterWorld } from "./cluster-sights.ts";
import type { DaemonSaid } from "./daemon-asker.ts";
import { heldLines } from "./held-lines.ts";
import { classNames } from "../facts/daemon-facts.ts";

const linesMax = 50;

export function stormCount(book: PodBook, said: ReadonlyMap<string, DaemonSaid>): StormCount {
  return {
    waiting: book.waiting,
    attached: book.attached,
    doneSoFar: book.done,
    byNamespace: book.byNamespace(),
    byClass: byClass(said),
  };
}

export function stormView({ copy, book, said }: ClusterWorld, ring: StormRing): StormView {
  return {
    spanMs: ring.spanMs,
    stepMs: ring.stepMs,
    namespaces: shownNamespaces(ring.points),
    points: ring.points,
    liveSinceMs: ring.liveSinceMs,
    classes: classLines(said),
    waiting: book.longestWaiting(),
    held: heldLines(said),
    failures: failureLines(copy.failures.store.values()),
  };
}

function byClass(said: ReadonlyMap<string, DaemonSaid>): readonly number[] {
  const sums = classNames.map(() => 0);
  for (const { facts } of said.values())
    for (const [at, count] of (facts?.byClass ?? []).entries()) sums[at] = (sums[at] ?? 0) + count;
  return sums;
}

function classLines(said: ReadonlyMap<string, DaemonSaid>): readonly ClassLine[] {
  const oldestWaitMs = Math.max(0, ...[...said.values()].map(({ facts }) => facts?.oldestWaitMs ?? 0));
  return byClass(said).map((waiting, at) => ({
    class: classNames[at] ?? "",
    waiting,
    // Daemons tell one wait for all classes.
    oldestWaitMs: waiting === 0 ? 0 : Math.round(oldestWaitMs),
  }));
}

function failureLines(
  failures: Iterable<{
    readonly namespace: string;
    readonly pod: string;
    readonly node: string;
    readonly lastMs: number;
    readonly why: string;
  }>,
): readonly FailureLine[] {
  return [...failures]
    .toSorted((left, right) => right.lastMs - left.lastMs)
    .slice(0, linesMax)
    .map(({ namespace, pod, node, lastMs, why }) => ({ atMs: lastMs, node, namespace, pod, verb: "ADD", why }));
}
