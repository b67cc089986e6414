import type { KillCounts } from "./pod-cgroups.ts";

interface Pod {
  /** The kernel's counts at the last look. */
  last: KillCounts;
  total: number;
  /** Zero at the first look, so that earlier kills show as a rise at the second. */
  shown: number;
}

/**
 * OOM kills in each pod, as a number that only rises. A container's count goes with its cgroup, so the total is carried
 * over. Kills before the daemon's first look are not counted.
 */
export class PodOomKills {
  readonly #pods = new Map<string, Pod>();
  #hasLooked = false;

  /** Takes the kernel's present counts, and returns the total of each present pod. */
  look(now: ReadonlyMap<string, KillCounts>): ReadonlyMap<string, number> {
    for (const uid of this.#pods.keys()) if (!now.has(uid)) this.#pods.delete(uid);
    for (const [uid, counts] of now) this.#see(uid, counts);
    this.#hasLooked = true;
    return new Map([...this.#pods].map(([uid, { shown }]) => [uid, shown]));
  }

  #see(uid: string, counts: KillCounts): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) {
      const before = this.#hasLooked ? sum(counts) : 0;
      this.#pods.set(uid, { last: counts, total: before, shown: 0 });
      return;
    }
    for (const [name, count] of counts) {
      const rise = count - (pod.last.get(name) ?? 0);
      // A lower count means a new cgroup under an old name.
      pod.total += rise < 0 ? count : rise;
    }
    pod.last = counts;
    pod.shown = pod.total;
  }
}

function sum(counts: KillCounts): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}
