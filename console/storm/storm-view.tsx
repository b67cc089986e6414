import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { StormHistory, StormPoint, StormView as Storm } from "../../src/wire/console-storm.ts";
import type { ConsoleProblem, ConsoleSnapshot } from "../../src/wire/console-view.ts";
import { clockText, countText, spanText } from "../base/words.ts";
import { Figure } from "../parts/explain.tsx";
import { Plot } from "../parts/plot.tsx";
import { problemFrom } from "../stream/server.ts";
import { server } from "../stream/store.ts";
import { Classes, Failures, Held, Waiting } from "./storm-lists.tsx";
import { Networks, Plugins } from "./slow-lists.tsx";
import { attached, byClass, byNamespace, fittingSpan, lastMinutes, oldestWaitMs, waitingNow } from "./storm-series.ts";

/** Who waits, since when and why; what is slow or fails. */
export function StormView(snapshot: ConsoleSnapshot): JSX.Element {
  const { storm, networks, plugins } = snapshot;
  return (
    <>
      <Headline storm={storm} waitingCount={waitingNow(snapshot)} />
      <Plots storm={storm} />
      <div class="columns">
        <Waiting waiting={storm.waiting} />
        <Held held={storm.held} />
        <Classes classes={storm.classes} />
        <Networks networks={networks} />
        <Plugins plugins={plugins} />
        <Failures failures={storm.failures} />
      </div>
    </>
  );
}

function Headline(props: { readonly storm: Storm; readonly waitingCount: number }): JSX.Element {
  const { points } = props.storm;
  const last = points.at(-1);
  const oldestMs = oldestWaitMs(props.storm);
  return (
    <section class="headline">
      <h1>Storm</h1>
      <dl class="tiles">
        <div>
          <dt>waiting now</dt>
          <dd>
            <Figure of="podsWaiting">{countText(props.waitingCount)}</Figure>
          </dd>
        </div>
        <div>
          <dt>attached</dt>
          <dd>
            <Figure of="attached">{countText(last?.attached ?? 0)}</Figure>
          </dd>
        </div>
        <div>
          <dt>attached in the last minute</dt>
          <dd>
            <Figure of="done">{countText(doneInMinute(points))}</Figure>
          </dd>
        </div>
        <div>
          <dt>oldest wait</dt>
          <dd>
            <Figure of="oldestWait">{oldestMs === undefined ? "none" : spanText(oldestMs)}</Figure>
          </dd>
        </div>
      </dl>
    </section>
  );
}

function doneInMinute(points: readonly StormPoint[]): number {
  const from = (points.at(-1)?.atMs ?? 0) - 60_000;
  return points.filter(({ atMs }) => atMs > from).reduce((sum, { done }) => sum + done, 0);
}

/** How far back the plots go. Up to an hour the server has the points itself; beyond, Prometheus has them. */
const spans = ["5 min", "hour", "6 h", "24 h", "7 d"] as const;
type Span = (typeof spans)[number];
const historyHours: Readonly<Partial<Record<Span, number>>> = { "6 h": 6, "24 h": 24, "7 d": 168 };

/** What the viewer chose, and what came of it. Undefined: nothing yet, the page chooses. */
interface Chosen {
  readonly span: Span;
  readonly points?: readonly StormPoint[];
  readonly problem?: ConsoleProblem;
}

function Plots({ storm }: { readonly storm: Storm }): JSX.Element {
  const by = useSignal<"namespace" | "class">("namespace");
  const chosen = useSignal<Chosen | undefined>(undefined);
  const span = chosen.value?.span ?? fittingSpan(storm.points);
  const points = useMemo(
    () => chosen.value?.points ?? (span === "5 min" ? lastMinutes(storm.points, 5) : storm.points),
    [chosen.value, span, storm.points],
  );
  const waiting = useMemo(
    () => (by.value === "class" ? byClass(points) : byNamespace(points, storm.namespaces)),
    [points, storm.namespaces, by.value],
  );
  const whole = useMemo(() => attached(points), [points]);
  const choose = async (next: Span): Promise<void> => {
    chosen.value = { span: next };
    if (historyHours[next] !== undefined) chosen.value = await withHistory(next, historyHours[next]);
  };
  return (
    <section class="plots">
      <div class="legend">
        <Choice names={["namespace", "class"]} chosen={by.value} prefix="by " onChoose={(name) => (by.value = name)} />
        <Choice names={spans} chosen={span} prefix="last " onChoose={(name) => void choose(name)} />
        {chosen.value?.problem === undefined ? null : <span role="status">{chosen.value.problem.message}</span>}
      </div>
      <div class="plot-pair">
        <Plot
          title={by.value === "class" ? "Calls in line, by class" : "Pods that wait, by namespace"}
          data={waiting}
        />
        <Plot title="Pods attached and waiting" data={whole} />
      </div>
      {historyHours[span] === undefined && (storm.points[0]?.atMs ?? 0) < storm.liveSinceMs ? (
        <p class="quiet">Before {clockText(storm.liveSinceMs)} the points come from the pods' own times.</p>
      ) : null}
    </section>
  );
}

async function withHistory(span: Span, hours: number): Promise<Chosen> {
  try {
    const history = await server.get<StormHistory>(`history?hours=${hours}`);
    return { span, points: history.points };
  } catch (thrown) {
    return { span: "hour", problem: problemFrom(thrown) };
  }
}

interface ChoiceProps<T extends string> {
  readonly names: readonly T[];
  readonly chosen: string;
  readonly prefix: string;
  readonly onChoose: (name: T) => void;
}

function Choice<T extends string>({ names, chosen, prefix, onChoose }: ChoiceProps<T>): JSX.Element {
  return (
    <span class="choice" role="group">
      {names.map((name) => (
        <button type="button" class="plain" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {prefix}
          {name}
        </button>
      ))}
    </span>
  );
}
