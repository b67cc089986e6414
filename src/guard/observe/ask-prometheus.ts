import type { Clock } from "../../base/clock.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { PrometheusServer } from "../facts/guard-settings.ts";
import { queryPrometheus, type PrometheusWay } from "./query-prometheus.ts";

/** A Prometheus that takes longer is itself not well. */
const answerMs = 5_000;
/** In one message. */
const namedMax = 5;
/** From an hour before the cause began, but from no longer ago than a day: an older probe was taken away on purpose. */
const missedSeconds = { min: 3_600, max: 86_400 };

/**
 * Why the probes of blackbox-exporter are not all well; undefined when they are. A probe that failed during the whole day
 * before the cause began does not count: its fault is another one. A probe that hangs until Prometheus gives up, or whose
 * exporter is gone, has no value any more, and that is no success.
 */
export async function probesProblem(
  clock: Clock,
  prometheus: PrometheusServer,
  sinceMs: number,
  way: PrometheusWay,
): Promise<string | undefined> {
  const ask = (query: string): Promise<readonly JsonObject[]> =>
    queryPrometheus(clock, prometheus, query, { ...way, deadlineMs: answerMs });
  try {
    if ((await ask("count(probe_success)")).length === 0) return "it has no probe_success";
    const failing = await ask(failingSince(sinceMs));
    const missed = await ask(missedSince(sinceMs, clock.wallMs()));
    const texts = [probesText(failing, "fails", "fail"), probesText(missed, "has", "have", " no value any more")];
    return texts.filter((text) => text !== "").join("; ") || undefined;
  } catch (thrown) {
    way.signal.throwIfAborted();
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Without samples from that day nothing is left out. */
export function failingSince(sinceMs: number): string {
  return sinceMs === 0 ? "probe_success == 0" : `probe_success == 0 unless ${failedBefore(sinceMs)}`;
}

/** By what is probed: the same probe from another pod of the exporter is the same. */
export function missedSince(sinceMs: number, nowMs: number): string {
  const seconds = sinceMs === 0 ? 0 : Math.ceil((nowMs - sinceMs) / 1_000) + missedSeconds.min;
  const range = Math.min(missedSeconds.max, Math.max(missedSeconds.min, seconds));
  const unlessBefore = sinceMs === 0 ? "" : ` unless ${failedBefore(sinceMs)}`;
  const by = "by (job, instance, target)";
  return `max ${by} (max_over_time(probe_success[${range}s])${unlessBefore}) unless max ${by} (probe_success)`;
}

/** In brackets. A probe that is younger than that day, or a Prometheus that lost its samples, proves nothing. */
function failedBefore(sinceMs: number): string {
  const since = Math.floor(sinceMs / 1_000);
  const firstHourEnds = since - 23 * 3_600;
  return `(max_over_time(probe_success[1d] @ ${since}) == 0 and count_over_time(probe_success[1h] @ ${firstHourEnds}))`;
}

function probesText(probes: readonly JsonObject[], one: string, several: string, rest = ""): string {
  if (probes.length === 0) return "";
  const names = probes.slice(0, namedMax).map(({ metric }) => {
    const { instance, target, job } = objectOf(metric);
    return textOf(instance) || textOf(target) || textOf(job) || "one without a name";
  });
  const more = probes.length > namedMax ? ` and ${probes.length - namedMax} more` : "";
  const says = probes.length === 1 ? `1 probe ${one}` : `${probes.length} probes ${several}`;
  return `${says}${rest}: ${names.join(", ")}${more}`;
}
