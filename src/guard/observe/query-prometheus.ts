import type { Clock } from "../../base/clock.ts";
import { objectOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { PrometheusServer } from "../facts/guard-settings.ts";
import { objectsOf } from "../json-values.ts";
import { getText, type TextGetter } from "./get-text.ts";
import { credentialsFrom } from "./server-credentials.ts";

/** Thousands of series with their labels. */
const bytesMax = 4_194_304;

interface QueryOptions extends PrometheusWay {
  readonly deadlineMs: number;
  /** The moment that is asked about; Prometheus' own clock if absent. */
  readonly atMs?: number;
}

/** How Prometheus is asked. */
export interface PrometheusWay {
  readonly signal: AbortSignal;
  /** Over the network unless given. */
  readonly getText?: TextGetter | undefined;
}

/** The series that answer an instant query. The error says why there is no answer. */
export async function queryPrometheus(
  clock: Clock,
  prometheus: PrometheusServer,
  query: string,
  { deadlineMs, atMs, signal, getText: get = getText }: QueryOptions,
): Promise<readonly JsonObject[]> {
  const credentials = await credentialsFrom(prometheus);
  const time = atMs === undefined ? "" : `&time=${atMs / 1_000}`;
  const path = `/api/v1/query?query=${encodeURIComponent(query)}${time}`;
  const request = { server: prometheus.url, path, credentials, accept: "application/json", deadlineMs, bytesMax };
  return seriesIn(await get(clock, request, signal));
}

/** The value of a series; NaN when it has none. */
export function sampleOf({ value }: JsonObject): number {
  return Array.isArray(value) ? Number(value[1]) : Number.NaN;
}

/** A text in quotes that matches itself alone, for `=~`. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/[\\"]/g, "\\$&");
}

/** The series of an answer to an instant query. */
export function seriesIn(text: string): readonly JsonObject[] {
  const answer = objectOf(parsed(text));
  const result = objectOf(answer["data"])["result"];
  if (answer["status"] !== "success" || !Array.isArray(result))
    throw new Error("its answer is not one of Prometheus to a query");
  return objectsOf(result);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("its answer is not JSON");
  }
}
