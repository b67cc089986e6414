import type { StormPoint } from "../../wire/console-storm.ts";

export const stormSpanMs = 3_600_000;
const usualStepMs = 5_000;
/** Namespaces with a curve of their own. */
const namespacesMax = 8;

/** What is counted at one moment. */
export interface StormCount {
  readonly waiting: number;
  readonly attached: number;
  /** Pods that got their network so far; only differences count. */
  readonly doneSoFar: number;
  /** Most waiting first. */
  readonly byNamespace: readonly (readonly [string, number])[];
  /** Calls in line: critical, ordinary, penalty, detach. */
  readonly byClass: readonly number[];
}

/** The last hour, a point every five seconds, unless told otherwise. It never grows beyond that. */
export class StormRing {
  readonly stepMs: number;
  readonly spanMs: number;
  #points: StormPoint[] = [];
  #doneSoFar: number | undefined;
  #liveSinceMs = 0;

  constructor(stepMs: number = usualStepMs, spanMs: number = stormSpanMs) {
    this.stepMs = stepMs;
    this.spanMs = spanMs;
  }

  /** Since when points were counted; earlier ones were filled in. */
  get liveSinceMs(): number {
    return this.#liveSinceMs;
  }

  get points(): readonly StormPoint[] {
    return this.#points;
  }

  /** Adds a point unless the last one is fresh. */
  add(atMs: number, count: StormCount): void {
    const last = this.#points.at(-1);
    // A clock that was set back must not stop the plot.
    if (last !== undefined && atMs >= last.atMs && atMs - last.atMs < this.stepMs) return;
    if (this.#liveSinceMs === 0) this.#liveSinceMs = atMs;
    const done = Math.max(0, count.doneSoFar - (this.#doneSoFar ?? count.doneSoFar));
    this.#doneSoFar = count.doneSoFar;
    const { waiting, attached } = count;
    this.#points.push({ atMs, waiting, attached, done, ...namespacesOf(count), ...classesOf(count) });
    this.#points = this.#points.filter((point) => point.atMs > atMs - this.spanMs && point.atMs <= atMs);
  }

  /** Puts earlier points before the first one. */
  fillIn(points: readonly StormPoint[]): void {
    const beforeMs = this.#points[0]?.atMs ?? Number.POSITIVE_INFINITY;
    this.#points = [...points.filter(({ atMs }) => atMs < beforeMs), ...this.#points];
  }
}

function namespacesOf({ byNamespace, waiting }: StormCount): Pick<StormPoint, "byNamespace"> {
  if (waiting === 0) return {};
  const shown = byNamespace.slice(0, namespacesMax);
  const rest = waiting - shown.reduce((sum, [, count]) => sum + count, 0);
  return { byNamespace: Object.fromEntries([...shown, ...(rest > 0 ? [["", rest] as const] : [])]) };
}

function classesOf({ byClass }: StormCount): Pick<StormPoint, "byClass"> {
  return byClass.some((count) => count > 0) ? { byClass } : {};
}

/** Namespaces of the points, those with most waiting pods in the hour first. */
export function shownNamespaces(points: readonly StormPoint[]): readonly string[] {
  const most = new Map<string, number>();
  for (const { byNamespace = {} } of points)
    for (const [namespace, count] of Object.entries(byNamespace))
      most.set(namespace, Math.max(count, most.get(namespace) ?? 0));
  const named = [...most].filter(([namespace]) => namespace !== "").toSorted(([, left], [, right]) => right - left);
  const shown = named.slice(0, namespacesMax).map(([namespace]) => namespace);
  return most.has("") || named.length > namespacesMax ? [...shown, ""] : shown;
}
