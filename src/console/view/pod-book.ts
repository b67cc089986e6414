import type { PodMatch, PodMatches } from "../../wire/console-story.ts";
import type { WaitingPod } from "../../wire/console-storm.ts";
import type { ConsolePod } from "../facts/console-pod.ts";

const matchesMax = 20;
const waitingShown = 50;
/** Kills that are older say nothing about now. */
const killsWithinMs = 3_600_000;

export interface NetworkUse {
  readonly pods: number;
  readonly waiting: number;
}

/** A CNI daemon that was killed for memory. The API server keeps how often it was restarted, and how it ended last. */
export interface KilledPod {
  /** `NAMESPACE/NAME`. */
  readonly pod: string;
  readonly restarts: number;
}

/**
 * Counts over all pods, kept up with each change: 60,000 pods are walked over only when somebody searches. `change` gets
 * what a store tells its listeners.
 */
export class PodBook {
  readonly #waiting = new Map<string, ConsolePod>();
  readonly #waitingIn = new Counter();
  readonly #waitingOn = new Counter();
  readonly #using = new Counter();
  readonly #waitingFor = new Counter();
  /** Pods of DaemonSets that were killed for memory. */
  readonly #killed = new Map<string, ConsolePod>();
  #attached = 0;
  #done = 0;

  /** Pods that have their network. */
  get attached(): number {
    return this.#attached;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Pods that got their network since the book was opened; never goes back. */
  get done(): number {
    return this.#done;
  }

  change({ before, now }: { readonly before: ConsolePod | undefined; readonly now: ConsolePod | undefined }): void {
    if (before !== undefined) this.#count(before, -1);
    if (now !== undefined) this.#count(now, 1);
    if (now?.state === "attached" && before?.state !== "attached") this.#done += 1;
  }

  waitingOn(node: string): number {
    return this.#waitingOn.of(node);
  }

  nodesWithWaiting(): readonly string[] {
    return this.#waitingOn.keys();
  }

  /** Namespaces by waiting pods, most first. */
  byNamespace(): readonly (readonly [string, number])[] {
    return this.#waitingIn.sorted();
  }

  useOf(network: string): NetworkUse {
    return { pods: this.#using.of(network), waiting: this.#waitingFor.of(network) };
  }

  networks(): readonly string[] {
    return this.#using.keys();
  }

  /** Pods that were killed for memory in the last hour, by node; only those of these DaemonSets. */
  killedOf(daemonSets: ReadonlySet<string>, nowMs: number): ReadonlyMap<string, readonly KilledPod[]> {
    const killed = [...this.#killed.values()].filter(
      ({ namespace, owner, oomKilledMs }) =>
        nowMs - oomKilledMs < killsWithinMs && daemonSets.has(`${namespace}/${owner.slice("DaemonSet/".length)}`),
    );
    const byNode = Map.groupBy(killed, ({ node }) => node);
    return new Map(
      [...byNode].map(([node, pods]) => [
        node,
        pods.map(({ namespace, name, restarts }) => ({ pod: `${namespace}/${name}`, restarts })),
      ]),
    );
  }

  /** How many have waited since before that time. */
  waitingSince(beforeMs: number): number {
    let count = 0;
    for (const { boundMs } of this.#waiting.values()) if (boundMs < beforeMs) count += 1;
    return count;
  }

  /** Those that wait longest. */
  longestWaiting(): readonly WaitingPod[] {
    return [...this.#waiting.values()]
      .toSorted((left, right) => left.boundMs - right.boundMs)
      .slice(0, waitingShown)
      .map(({ namespace, name, node, boundMs }) => ({ namespace, pod: name, node, sinceMs: boundMs }));
  }

  #count(pod: ConsolePod, by: 1 | -1): void {
    const key = `${pod.namespace}/${pod.name}`;
    for (const network of pod.networks) if (pod.state !== "ended") this.#using.add(network, by);
    if (pod.state === "attached") this.#attached += by;
    if (pod.oomKilledMs > 0 && pod.owner.startsWith("DaemonSet/")) keep(this.#killed, key, pod, by);
    if (pod.state !== "waiting") return;
    keep(this.#waiting, key, pod, by);
    this.#waitingIn.add(pod.namespace, by);
    this.#waitingOn.add(pod.node, by);
    for (const network of pod.networks) this.#waitingFor.add(network, by);
  }
}

/** Pods whose namespace or name contains the text, or both as `NAMESPACE/NAME`; those that wait first. */
export function matchingPods(pods: Iterable<ConsolePod>, text: string): PodMatches {
  const wanted = text.trim().toLowerCase();
  const found: PodMatch[] = [];
  if (wanted === "") return { pods: [], more: 0 };
  for (const { namespace, name, node, state } of pods)
    if (state !== "host" && `${namespace}/${name}`.includes(wanted)) found.push({ namespace, pod: name, node, state });
  const sorted = found.toSorted(byWeight);
  return { pods: sorted.slice(0, matchesMax), more: Math.max(0, sorted.length - matchesMax) };
}

const weights: readonly PodMatch["state"][] = ["waiting", "unbound", "attached", "ended"];

export function byWeight(left: PodMatch, right: PodMatch): number {
  const weight = weights.indexOf(left.state) - weights.indexOf(right.state);
  return (
    weight || (left.namespace === right.namespace ? less(left.pod, right.pod) : less(left.namespace, right.namespace))
  );
}

function less(left: string, right: string): number {
  return left < right ? -1 : 1;
}

function keep<T>(map: Map<string, T>, key: string, value: T, by: 1 | -1): void {
  if (by === 1) map.set(key, value);
  else map.delete(key);
}

class Counter {
  readonly #counts = new Map<string, number>();

  add(key: string, by: number): void {
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  keys(): readonly string[] {
    return [...this.#counts.keys()];
  }

  sorted(): readonly (readonly [string, number])[] {
    return [...this.#counts].toSorted(([left, most], [right, more]) => more - most || less(left, right));
  }
}
