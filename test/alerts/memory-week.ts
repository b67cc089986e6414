const stepSeconds = 300;

/** One pod of a DaemonSet as cAdvisor and kube-state-metrics tell of it. */
export interface PodWeek {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** At a moment, in seconds; undefined where no sample is. */
  readonly usedBytes: (seconds: number) => number | undefined;
  /** Processes that were killed for memory until then; absent where cAdvisor does not tell. */
  readonly kills?: (seconds: number) => number;
  /** Restarts until then, the last of them after a kill for memory; absent without kube-state-metrics. */
  readonly restarts?: (seconds: number) => number;
}

/** The samples of these pods, one in five minutes, as lines of OpenMetrics. */
export function memoryHistory(pods: readonly PodWeek[], fromSeconds: number, toSeconds: number): readonly string[] {
  const times = Array.from(
    { length: Math.floor((toSeconds - fromSeconds) / stepSeconds) + 1 },
    (_, index) => toSeconds - index * stepSeconds,
  ).toReversed();
  const family = (name: string, type: string, value: (pod: PodWeek) => PodWeek["usedBytes"], more = ""): string[] => [
    `# TYPE ${name.replace(/_total$/u, "")} ${type}`,
    ...pods.flatMap((one) => {
      const labels = `{namespace="${one.namespace}",pod="${one.pod}",container="${one.container}"${more}}`;
      return times.flatMap((seconds) => {
        const number = value(one)(seconds);
        return number === undefined ? [] : [`${name}${labels} ${number} ${seconds}`];
      });
    }),
  ];
  const none = (): undefined => undefined;
  const killed = ',reason="OOMKilled"';
  return [
    ...family("container_memory_working_set_bytes", "gauge", ({ usedBytes }) => usedBytes),
    ...family("container_oom_events_total", "counter", ({ kills }) => kills ?? none),
    ...family("kube_pod_container_status_restarts_total", "counter", ({ restarts }) => restarts ?? none),
    ...family(
      "kube_pod_container_status_last_terminated_reason",
      "gauge",
      ({ restarts }) => (restarts === undefined ? none : (seconds) => (restarts(seconds) > 0 ? 1 : undefined)),
      killed,
    ),
  ];
}
