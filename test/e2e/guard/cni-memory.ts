import type { KubeletPod } from "./kubelet-pod.ts";

/** Memory of the CNI daemon without waiting pods. */
const idleBytes = 30 * 2 ** 20;
/** For each pod that waits on its node: the seeds' daemon was killed at 256Mi and 512Mi with 73 of them, and lived at 1Gi. */
const perWaitingPodBytes = 8 * 2 ** 20;
/** From its start to its end when the memory does not suffice. Hours of it in the seeds had one kill in 3 to 5 minutes. */
const lifeMs = 2_000;
const backOffMs = 4_000;

export type DaemonFate = "live" | "kill" | "restart" | "wait";

/**
 * How the CNI daemon of a node fares: it is killed for its memory while too many pods wait there, and started again a few
 * seconds later, for ever; it lives once its limit suffices for what waits. Pods start only while it lives.
 */
export class CniMemory {
  /** By UID of the daemon's pod: since when it is as it is. */
  readonly #sinceMs = new Map<string, number>();

  fate(daemon: KubeletPod, waitingPods: number, nowMs: number): DaemonFate {
    const sinceMs = this.#since(daemon, nowMs);
    if (!daemon.isReady) return nowMs - sinceMs >= backOffMs ? this.#turn(daemon, nowMs, "restart") : "wait";
    if (isEnough(daemon, waitingPods)) return "live";
    return nowMs - sinceMs >= lifeMs ? this.#turn(daemon, nowMs, "kill") : "wait";
  }

  #since({ uid }: KubeletPod, nowMs: number): number {
    const known = this.#sinceMs.get(uid);
    if (known !== undefined) return known;
    this.#sinceMs.set(uid, nowMs);
    return nowMs;
  }

  #turn({ uid }: KubeletPod, nowMs: number, fate: DaemonFate): DaemonFate {
    this.#sinceMs.set(uid, nowMs);
    return fate;
  }
}

function isEnough({ memoryLimitBytes }: KubeletPod, waitingPods: number): boolean {
  return idleBytes + waitingPods * perWaitingPodBytes <= memoryLimitBytes;
}
