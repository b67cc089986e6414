import type { KillCounts } from "./pod-cgroups.ts";

interface Pod {
  /** The kernel's counts at the last look. */
  last: KillCounts;
  total: number;
  /** Zero at the first look, so that what came before it is a rise at the second. */
  shown: number;
}

/**
 * Kills for want of memory in each pod, as a number that only rises. A container's count goes with its cgroup, so what
 * was counted is carried over. What happened before the daemon's first look is nobody's rise.
 */
export class PodOomKills {
  readonly #pods = new Map<string, Pod>();
  #hasLooked = false;

  /** Takes what the kernel says now; tells the kills of each pod that is there. */
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
      // A count that fell is a new cgroup under an old name.
      pod.total += rise < 0 ? count : rise;
    }
    pod.last = counts;
    pod.shown = pod.total;
  }
}

function sum(counts: KillCounts): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}
