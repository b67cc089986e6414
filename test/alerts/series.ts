/** A series of Prometheus, told minute by minute; undefined is a minute without a sample. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly at: (minute: number) => number | undefined;
}

export function series(name: string, labels: Readonly<Record<string, string>>, at: Series["at"] | number): Series {
  return { name, labels, at: typeof at === "number" ? () => at : at };
}

/** The same series, told only from one minute on and until another. */
export function during(from: number, until: number, all: readonly Series[]): readonly Series[] {
  return all.map(({ name, labels, at }) =>
    series(name, labels, (minute) => (minute >= from && minute < until ? at(minute) : undefined)),
  );
}

export function selector({ name, labels }: Pick<Series, "name" | "labels">): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return `${name}{${pairs.join(",")}}`;
}

/** Values in promtool's own words, where `1x3` is four ones, `0+2x3` is 0 2 4 6 and `_x3` three times nothing. */
export function expansion(values: readonly (number | undefined)[]): string {
  const words: string[] = [];
  for (let from = 0; from < values.length;) {
    const run = runFrom(values, from);
    words.push(run.word);
    from += run.length;
  }
  return words.join(" ");
}

/** The longest run of nothing, of one value or of equal steps. */
function runFrom(values: readonly (number | undefined)[], from: number): { readonly word: string; length: number } {
  const [first, second] = [values[from], values[from + 1]];
  let length = 1;
  if (first === undefined) {
    while (from + length < values.length && values[from + length] === undefined) length += 1;
    // A series that ends is stale at once, as when a target or an object goes away.
    return from === 0
      ? { word: `_x${length}`, length }
      : { word: length > 1 ? `stale _x${length - 1}` : "stale", length };
  }
  if (second === undefined) return { word: String(first), length };
  const step = second - first;
  while (values[from + length] === first + step * length) length += 1;
  const steps = step === 0 ? "" : `${step < 0 ? "-" : "+"}${Math.abs(step)}`;
  return { word: `${first}${steps}x${length - 1}`, length };
}

export interface PodLife {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** Kind of the owner; "" for an ownerless pod. */
  readonly owner: string;
  /** Minute in which it is created and bound; below zero for pods older than the replay. */
  readonly bound: number;
  /** Minute in which its network is there; that in which it runs unless told. */
  readonly addressed?: number;
  readonly running?: number;
  readonly succeeded?: number;
  readonly gone?: number;
}

/** The series of kube-state-metrics about a pod. */
export function podSeries(pod: PodLife): readonly Series[] {
  const { running = Infinity, succeeded = Infinity, gone = Infinity } = pod;
  const { addressed = Math.min(running, succeeded) } = pod;
  const labels = { namespace: pod.namespace, pod: pod.name, uid: `uid-${pod.name}` };
  const during = (value: (minute: number) => number) => (minute: number) =>
    minute >= pod.bound && minute < gone ? value(minute) : undefined;
  const inPhase = (from: number, until: number) => during((minute) => (minute >= from && minute < until ? 1 : 0));
  return [
    series("kube_pod_info", { ...labels, node: pod.node }, (minute) =>
      minute < addressed ? during(() => 1)(minute) : undefined,
    ),
    series("kube_pod_info", { ...labels, node: pod.node, pod_ip: "10.42.0.9" }, (minute) =>
      minute < addressed ? undefined : during(() => 1)(minute),
    ),
    series(
      "kube_pod_owner",
      { ...labels, owner_kind: pod.owner },
      during(() => 1),
    ),
    series(
      "kube_pod_status_scheduled_time",
      labels,
      during(() => pod.bound * 60),
    ),
    series("kube_pod_status_phase", { ...labels, phase: "Pending" }, inPhase(-Infinity, Math.min(running, succeeded))),
    series("kube_pod_status_phase", { ...labels, phase: "Running" }, inPhase(running, succeeded)),
    series("kube_pod_status_phase", { ...labels, phase: "Succeeded" }, inPhase(succeeded, Infinity)),
  ];
}
