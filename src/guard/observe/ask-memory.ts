import type { Clock } from "../../base/clock.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { PrometheusServer } from "../facts/guard-settings.ts";
import type { MemoryPast, MemoryQuestion, PodUse } from "../facts/memory-past.ts";
import { literalPattern, queryPrometheus, sampleOf, type PrometheusWay } from "./query-prometheus.ts";

/** 5,000 pods have 100 million samples in a week. Prometheus itself gives up after two minutes. */
const pastDeadlineMs = 60_000;
const nowDeadlineMs = 5_000;
const quarterSeconds = 900;
/** In a message. */
const killedMax = 5;

interface Asking extends PrometheusWay {
  readonly clock: Clock;
  readonly prometheus: PrometheusServer;
  /** The label `cluster` of this cluster's series, where they carry one. */
  readonly cluster: string;
}

/** What Prometheus has of a container's memory over the whole time that must have been calm. The error says why it has not. */
export async function askPast(asking: Asking, question: MemoryQuestion): Promise<MemoryPast> {
  const { key, limit, lengthMs } = question;
  const atMs = Math.floor(asking.clock.wallMs());
  const fromMs = atMs - lengthMs;
  const ask = asker(asking, atMs, pastDeadlineMs);
  const queries = pastQueries(question, asking.cluster, fromMs);
  // One after the other: Prometheus has others to answer.
  const [highest] = await ask(queries.peak);
  const quarters = await ask(queries.quarters);
  const killed = await ask(queries.killed);
  const [counted] = await ask(queries.counted);
  return {
    ...{ key, limit, fromMs, atMs, unread: "" },
    peakBytes: highest === undefined ? 0 : sampleOf(highest),
    peakPod: highest === undefined ? "" : podOf(highest),
    quarters: new Map(quarters.map((row) => [podOf(row), sampleOf(row)])),
    killed: killed.map(podOf),
    counted: counted === undefined ? 0 : sampleOf(counted),
  };
}

/** What each pod of the daemon uses now. */
export async function askUses(asking: Asking, question: MemoryQuestion): Promise<readonly PodUse[]> {
  const { namespace } = question;
  const ask = asker(asking, Math.floor(asking.clock.wallMs()), nowDeadlineMs);
  const used = `container_memory_working_set_bytes${selector(question, asking.cluster)}`;
  const times = new Map((await ask(`max by (pod) (timestamp(${used}))`)).map((row) => [podOf(row), sampleOf(row)]));
  const values = await ask(`max by (pod) (${used})`);
  return values.flatMap((row) => {
    const pod = podOf(row);
    const seconds = times.get(pod);
    return seconds === undefined ? [] : [{ namespace, pod, atMs: seconds * 1_000, usedBytes: sampleOf(row) }];
  });
}

function asker(
  { clock, prometheus, signal, getText }: Asking,
  atMs: number,
  deadlineMs: number,
): (query: string) => Promise<readonly JsonObject[]> {
  return (query) => queryPrometheus(clock, prometheus, query, { atMs, deadlineMs, signal, getText });
}

interface PastQueries {
  readonly peak: string;
  /** Every sample is read once: a gap of half an hour leaves a quarter without any, a gap of less than a quarter none. */
  readonly quarters: string;
  readonly killed: string;
  readonly counted: string;
}

function pastQueries(question: MemoryQuestion, cluster: string, fromMs: number): PastQueries {
  const where = selector(question, cluster);
  const range = `${Math.round(question.lengthMs / 1_000)}s`;
  const begin = Math.floor(fromMs / 1_000);
  const used = `container_memory_working_set_bytes${where}`;
  const kills = `container_oom_events_total${where}`;
  const restarts = `kube_pod_container_status_restarts_total${where}`;
  const reasons = `kube_pod_container_status_last_terminated_reason${where.replace("{", '{reason="OOMKilled",')}`;
  const quarter = `${quarterSeconds}s`;
  // The first whole quarter ends one quarter after the beginning.
  const quarters = `${Math.round(question.lengthMs / 1_000) - quarterSeconds}s:${quarter}`;
  // A counter that was there at the beginning may have kills from before.
  const grew = (counter: string): string =>
    `((max_over_time(${counter}[${range}]) > 0) unless (max_over_time(${counter}[${range}]) <= ${counter} @ ${begin}))`;
  const restarted = `(max by (pod) ${grew(restarts)} and max by (pod) (max_over_time(${reasons}[${range}])) == 1)`;
  return {
    peak: `topk(1, max by (pod) (max_over_time(${used}[${range}])))`,
    quarters: `count_over_time(max by (pod) (present_over_time(${used}[${quarter}]))[${quarters}])`,
    killed: `topk(${killedMax}, max by (pod) ${grew(kills)} or ${restarted})`,
    counted: `count(count by (pod) (present_over_time(${kills}[${quarter}]) or present_over_time(${restarts}[${quarter}])))`,
  };
}

/** The pods of a DaemonSet have its name and a suffix without hyphens. */
function selector({ namespace, daemonSet, container }: MemoryQuestion, cluster: string): string {
  const pods = `${daemonSet.replaceAll(".", "[.]")}-[a-z0-9]+`;
  const own = cluster === "" ? "" : `,cluster=~"|${literalPattern(cluster)}"`;
  return `{namespace="${namespace}",pod=~"${pods}",container="${container}"${own}}`;
}

function podOf({ metric }: JsonObject): string {
  return textOf(objectOf(metric)["pod"]);
}
