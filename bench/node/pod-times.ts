import type { Api } from "../../test/e2e/api.ts";
import { nodeName } from "../../test/e2e/machine.ts";
import { isReady, type Pod } from "../../test/e2e/pods.ts";
import { say } from "../../test/e2e/say.ts";
import { until } from "../../test/e2e/until.ts";

interface Seen {
  runningMs?: number;
  readyMs?: number;
  goneMs?: number;
}

/** When each pod of the node was first seen running, ready and gone, by a watch: nobody is asked again and again. */
export class PodTimes {
  readonly #seen = new Map<string, Seen>();
  readonly #stop = new AbortController();
  #trouble: unknown;

  /** Begins to watch; there is no pod yet that counts. */
  static async begin(api: Api): Promise<PodTimes> {
    const times = new PodTimes();
    times.#follow(api).catch((thrown: unknown) => {
      if (!times.#stop.signal.aborted) times.#trouble = thrown;
    });
    return times;
  }

  end(): void {
    this.#stop.abort();
  }

  /** Of the pods named `namespace/name`, the moments at which they got so far, by the clock of this process. */
  moments(of: keyof Seen, pods: readonly string[]): readonly number[] {
    if (this.#trouble !== undefined) throw new Error("The watch of pods has ended", { cause: this.#trouble });
    return pods.flatMap((pod) => this.#seen.get(pod)?.[of] ?? []);
  }

  /** Whether all got so far in time. */
  async all(
    of: keyof Seen,
    pods: readonly string[],
    options: { timeoutMs: number; tend: () => void },
  ): Promise<boolean> {
    const endsMs = performance.now() + options.timeoutMs;
    return until(
      `all pods are ${of}`,
      () => {
        options.tend();
        if (this.moments(of, pods).length === pods.length) return true;
        return performance.now() > endsMs ? false : undefined;
      },
      { timeoutMs: options.timeoutMs + 10_000 },
    );
  }

  /** A server may end a watch at any time; what went meanwhile is seen by its absence. */
  async #follow(api: Api): Promise<void> {
    const onNode = `fieldSelector=spec.nodeName%3D${nodeName}`;
    while (!this.#stop.signal.aborted) {
      await api.watch<Pod>(
        `/api/v1/pods?watch=true&${onNode}`,
        (type, pod) => this.#note(type, pod),
        this.#stop.signal,
      );
      say("the watch of pods is opened again");
      const there = new Set((await api.list<Pod>(`/api/v1/pods?${onNode}`)).map(nameOf));
      for (const [name, seen] of this.#seen) if (!there.has(name)) seen.goneMs ??= performance.now();
    }
  }

  #note(type: string, pod: Pod): void {
    const nowMs = performance.now();
    const name = nameOf(pod);
    const seen = this.#seen.get(name) ?? {};
    this.#seen.set(name, seen);
    if (type === "DELETED") seen.goneMs ??= nowMs;
    else if (pod.status?.phase === "Running") seen.runningMs ??= nowMs;
    if (type !== "DELETED" && isReady(pod)) seen.readyMs ??= nowMs;
  }
}

function nameOf(pod: Pod): string {
  return `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
}
