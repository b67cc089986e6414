import type { NodeFacts } from "../facts/world.ts";

/** A node that is gone for longer than this and comes back counts as new. */
const nodesMax = 10_000;

/**
 * Notices when a node was started again, by its boot ID. A change of Ready would not do: a quick reboot leaves it alone,
 * and a kubelet that is restarted changes it. What happened before this guard led is not known.
 */
export class BootWatch {
  readonly #seen = new Map<string, string>();
  readonly #rebootedMs = new Map<string, number>();

  look(nodes: readonly NodeFacts[], nowMs: number): ReadonlyMap<string, number> {
    const names = new Set<string>();
    for (const { name, bootId } of nodes) {
      names.add(name);
      if (bootId === undefined) continue;
      const before = this.#seen.get(name);
      if (before !== undefined && before !== bootId) this.#rebootedMs.set(name, nowMs);
      if (before !== undefined || this.#seen.size < nodesMax) this.#seen.set(name, bootId);
    }
    for (const name of this.#seen.keys())
      if (!names.has(name)) {
        this.#seen.delete(name);
        this.#rebootedMs.delete(name);
      }
    return this.#rebootedMs;
  }
}
