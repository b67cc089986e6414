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

/** When each pod of the node was first seen running, ready and gone. Uses a watch, so that it adds no load by polling. */
export class PodTimes {
  readonly #seen = new Map<string, Seen>();
  readonly #stop = new AbortController();
  #trouble: unknown;

  /** Begins to watch, before the first pod that counts exists. */
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

  /** The times at which the pods named `namespace/name` reached this state, by the clock of this process. */
  moments(of: keyof Seen, pods: readonly string[]): readonly number[] {
    if (this.#trouble !== undefined) throw new Error("The watch of pods has ended", { cause: this.#trouble });
    return pods.flatMap((pod) => this.#seen.get(pod)?.[of] ?? []);
  }

  /** Whether all pods reached this state in time. */
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

  /** A server may end a watch at any time. A pod that went meanwhile is missing in the next list. */
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
