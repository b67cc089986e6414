import type { Board, Query } from "../../scripts/deploy/grafana/board.ts";
import type { Question } from "../alerts/replay.ts";
import { minutes } from "./storm-on-levee.ts";

/** What a viewer has chosen at the top of a board. */
export type Viewpoint = Readonly<Record<"cluster" | "node" | "namespace" | "pod", string>>;

/** A pod on each node of the storm: one waits, one waits where a network is broken, one runs. */
export const viewpoints: readonly Viewpoint[] = [
  { cluster: "", node: "agent1", namespace: "fc-desktop", pod: "rd-browser-only-7" },
  { cluster: "", node: "agent2", namespace: "fc-desktop", pod: "rd-browser-only-8" },
  { cluster: "", node: "server", namespace: "shop", pod: "web-0" },
];

export interface PanelQuery {
  readonly panel: string;
  readonly kind: string;
  readonly query: Query;
  readonly mayBeEmpty: boolean;
}

export function queriesOf(board: Board): readonly PanelQuery[] {
  return board.rows.flatMap(({ panels }) =>
    panels.flatMap(({ title, kind, queries = [], empty }) =>
      queries.map((query) => ({ panel: title, kind, query, mayBeEmpty: empty !== undefined })),
    ),
  );
}

/** The expression as Grafana sends it from one viewpoint. */
export function seenFrom(viewpoint: Viewpoint, expr: string): string {
  return expr
    .replaceAll("$__rate_interval", "5m")
    .replaceAll("$__range", "2h")
    .replaceAll(/\$(cluster|node|namespace|pod)\b/gu, (_all, name: keyof Viewpoint) => viewpoint[name]);
}

const wholeStorm = `[${minutes}m:1m]`;

/** From some viewpoint and in some minute the expression has an answer, and each series has all labels of its legend. */
export function isAnswered(expr: string, labels: readonly string[]): Question {
  // A zero for nothing is no answer.
  const parts = fromEverywhere(expr.replace(/\s+or vector\(0\)\s*$/u, "")).map((seen) => {
    const marked = labels.reduce(
      (inner, label) => `label_replace(${inner}, "missing", "${label}", "${label}", "")`,
      `(${seen})`,
    );
    return `max_over_time((count by (missing) (${marked}))${wholeStorm})`;
  });
  return { expr: `count by (missing) (${parts.join(" or ")})`, minute: minutes, answer: [{ labels: "{}", value: 1 }] };
}

/** From every viewpoint and in every minute no two series have one legend. */
export function isTold(expr: string, labels: readonly string[]): Question {
  const parts = fromEverywhere(expr).map((seen) => {
    const isUnique = `count(count by (${labels.join(", ")}) (${seen})) == bool count(${seen})`;
    return `(min_over_time((${isUnique})${wholeStorm}) or vector(1))`;
  });
  return { expr: parts.join(" * "), minute: minutes, answer: [{ labels: "{}", value: 1 }] };
}

function fromEverywhere(expr: string): readonly string[] {
  return [...new Set(viewpoints.map((viewpoint) => seenFrom(viewpoint, expr)))];
}

export function labelsOf(legend: string): readonly string[] {
  return [...legend.matchAll(/\{\{(\w+)\}\}/gu)].map((match) => match[1] ?? "");
}
