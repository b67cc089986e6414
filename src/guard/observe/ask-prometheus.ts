import type { Clock } from "../../base/clock.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { PrometheusServer } from "../facts/guard-settings.ts";
import { objectsOf } from "../json-values.ts";
import { getText } from "./get-text.ts";
import { credentialsFrom } from "./server-credentials.ts";

/** A Prometheus that takes longer is itself not well. */
const answerMs = 5_000;
/** Thousands of probes with their labels. */
const bytesMax = 4_194_304;
/** In one message. */
const namedMax = 5;

/**
 * Why the probes of blackbox-exporter are not all well; undefined when they are. A probe that failed during the whole day
 * before the cause began does not count: its fault is another one.
 */
export async function probesProblem(
  clock: Clock,
  prometheus: PrometheusServer,
  sinceMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ask = (query: string): Promise<readonly JsonObject[]> => results(clock, prometheus, query, signal);
  try {
    if ((await ask("count(probe_success)")).length === 0) return "it has no probe_success";
    const failing = await ask(failingSince(sinceMs));
    return failing.length === 0 ? undefined : failingText(failing);
  } catch (thrown) {
    signal.throwIfAborted();
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Without samples from that day nothing is left out. */
export function failingSince(sinceMs: number): string {
  const before = `max_over_time(probe_success[1d] @ ${Math.floor(sinceMs / 1_000)})`;
  return sinceMs === 0 ? "probe_success == 0" : `probe_success == 0 unless ${before} == 0`;
}

async function results(
  clock: Clock,
  prometheus: PrometheusServer,
  query: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const credentials = await credentialsFrom(prometheus);
  const path = `/api/v1/query?query=${encodeURIComponent(query)}`;
  const limits = { accept: "application/json", deadlineMs: answerMs, bytesMax };
  const text = await getText(clock, { server: prometheus.url, path, credentials, ...limits }, signal);
  return resultsOf(text);
}

function resultsOf(text: string): readonly JsonObject[] {
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

function failingText(failing: readonly JsonObject[]): string {
  const names = failing.slice(0, namedMax).map(({ metric }) => {
    const { instance, target, job } = objectOf(metric);
    return textOf(instance) || textOf(target) || textOf(job) || "one without a name";
  });
  const more = failing.length > namedMax ? ` and ${failing.length - namedMax} more` : "";
  return `${failing.length} probes fail: ${names.join(", ")}${more}`;
}
