import type { Lane } from "./lane.ts";
import { saltedHash } from "./salted-hash.ts";
import { Shard } from "./shard.ts";
import type { Waiting } from "./waiting.ts";

/** The most shards. A newcomer waits for one round over all of them, and few nodes have pods of more namespaces. */
const shardsMax = 64;
/** Shards that a namespace may choose from once all exist. Two namespaces share all six once in 75 million. */
const handSize = 6;

/**
 * Requests in shards that are served in turn. Each namespace has a shard of its own, so one namespace's 219 pods cannot
 * delay another's two. With more namespaces than shards, each namespace takes the shortest of a few shards that its
 * name picks at random (shuffle sharding).
 */
export class NamespaceQueue {
  readonly #salt: number;
  readonly #flows = new Map<string, Flow>();
  /** In the order of service. The first shard has waited longest for its turn. */
  readonly #turns: Shard[] = [];
  readonly #shards: Shard[] = [];
  #size = 0;
  #numbers = 0;

  constructor(salt: number) {
    this.#salt = salt;
  }

  get size(): number {
    return this.#size;
  }

  waitingOf(namespace: string): number {
    return this.#flows.get(namespace)?.waiting ?? 0;
  }

  get flowCount(): number {
    return this.#flows.size;
  }

  /** Namespaces with a request in line. */
  flows(): readonly { readonly namespace: string; readonly waiting: number }[] {
    return [...this.#flows].map(([namespace, { waiting }]) => ({ namespace, waiting }));
  }

  push(waiting: Waiting): void {
    const flow = this.#flow(waiting.request.namespace);
    flow.waiting += 1;
    this.#size += 1;
    waiting.number = this.#numbers += 1;
    if (flow.shard.size === 0) this.#turns.push(flow.shard);
    flow.shard.push(waiting);
  }

  /** Removes a request that leaves without a slot. */
  remove(waiting: Waiting): void {
    const flow = this.#flows.get(waiting.request.namespace);
    if (flow === undefined) return;
    flow.shard.remove(waiting);
    this.#size -= 1;
    flow.waiting -= 1;
    if (flow.waiting === 0) this.#flows.delete(waiting.request.namespace);
    if (flow.shard.size === 0) this.#turns.splice(this.#turns.indexOf(flow.shard), 1);
  }

  /** The next request whose lane may go. A shard that is passed over keeps its turn. */
  take(mayGo: (lane: Lane) => boolean): Waiting | undefined {
    for (const [index, shard] of this.#turns.entries()) {
      const next = shard.oldest(mayGo);
      if (next === undefined) continue;
      this.#turns.splice(index, 1);
      this.#turns.push(shard);
      this.remove(next);
      return next;
    }
    return undefined;
  }

  /**
   * How many requests are served before this one: every other shard gets as many turns as its own shard needs. Requests
   * that left from the middle still count, so the number may be too high.
   */
  ahead(waiting: Waiting): number {
    const own = this.#flows.get(waiting.request.namespace)?.shard;
    if (own === undefined) return 0;
    const before = own.ahead(waiting);
    let ahead = before;
    for (const shard of this.#turns) if (shard !== own) ahead += Math.min(shard.size, before + 1);
    return ahead;
  }

  /** The newest request of the longest shard, which loses the least when there is no room. */
  newestOfLongest(): Waiting | undefined {
    let longest: Shard | undefined;
    for (const shard of this.#turns) if (longest === undefined || shard.size > longest.size) longest = shard;
    return longest?.newest();
  }

  #flow(namespace: string): Flow {
    const known = this.#flows.get(namespace);
    if (known !== undefined) return known;
    const flow = { shard: this.#shardFor(namespace), waiting: 0 };
    this.#flows.set(namespace, flow);
    return flow;
  }

  #shardFor(namespace: string): Shard {
    const free = this.#shards.find((shard) => shard.size === 0);
    if (free !== undefined) return free;
    if (this.#shards.length < shardsMax) {
      const shard = new Shard();
      this.#shards.push(shard);
      return shard;
    }
    return this.#hand(namespace).reduce((shortest, shard) => (shard.size < shortest.size ? shard : shortest));
  }

  #hand(namespace: string): Shard[] {
    return Array.from({ length: handSize }, (_, card) => {
      const at = saltedHash(namespace, this.#salt + card) % this.#shards.length;
      return this.#shards[at] ?? new Shard();
    });
  }
}

interface Flow {
  readonly shard: Shard;
  waiting: number;
}
