import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { NetworkUsers } from "./network-users.ts";
import type { WatchedNetwork } from "./watched-network.ts";

/** A definition that has changed, or is gone, under pods that run. */
export interface DefinitionChange {
  readonly kind: "changed" | "deleted";
  readonly network: Pick<WatchedNetwork, "namespace" | "name" | "uid" | "configHash">;
  readonly pods: readonly ClusterPod[];
  /** When it was seen. */
  readonly sinceMs: number;
}

/** `kubectl replace --force` and a sync of Argo CD delete a definition and create it again. */
const goneMs = 10_000;

interface KnownNetwork {
  network: DefinitionChange["network"];
  /** The configuration that each pod started with, by the pod's UID: only of those that have an older one. */
  readonly older: Map<string, string>;
  changedMs: number;
  goneSinceMs: number | undefined;
}

/**
 * Remembers how each definition was, since the guard started, and which running pods started with another configuration.
 * A change that is taken back hurts nobody any more.
 */
export class ChangeBook {
  readonly #known = new Map<string, KnownNetwork>();

  look(networks: Iterable<WatchedNetwork>, users: NetworkUsers, nowMs: number): readonly DefinitionChange[] {
    const gone = new Set(this.#known.keys());
    for (const network of networks) {
      const key = `${network.namespace}/${network.name}`;
      gone.delete(key);
      this.#see(key, network, users.get(key) ?? [], nowMs);
    }
    for (const key of gone) this.#miss(key, users, nowMs);
    return [...this.#known].flatMap(([key, known]) => changeOf(known, users.get(key) ?? [], nowMs));
  }

  #see(key: string, network: WatchedNetwork, pods: readonly ClusterPod[], nowMs: number): void {
    const { namespace, name, uid, configHash } = network;
    const known = this.#known.get(key);
    const seen = { namespace, name, uid, configHash };
    if (known === undefined) {
      this.#known.set(key, { network: seen, older: new Map(), changedMs: nowMs, goneSinceMs: undefined });
      return;
    }
    if (configHash !== known.network.configHash) {
      for (const pod of pods) if (!known.older.has(pod.uid)) known.older.set(pod.uid, known.network.configHash);
      known.changedMs = nowMs;
    }
    known.network = seen;
    known.goneSinceMs = undefined;
    if (known.older.size === 0) return;
    const running = new Set(pods.map((pod) => pod.uid));
    for (const [uid, hash] of known.older) if (hash === configHash || !running.has(uid)) known.older.delete(uid);
  }

  /** A definition that no pod uses any more is forgotten. */
  #miss(key: string, users: NetworkUsers, nowMs: number): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    if (users.has(key)) known.goneSinceMs ??= nowMs;
    else this.#known.delete(key);
  }
}

function changeOf(known: KnownNetwork, pods: readonly ClusterPod[], nowMs: number): readonly DefinitionChange[] {
  const { network, older, changedMs, goneSinceMs } = known;
  if (goneSinceMs !== undefined)
    return nowMs - goneSinceMs < goneMs ? [] : [{ kind: "deleted", network, pods, sinceMs: goneSinceMs }];
  const hurt = older.size === 0 ? [] : pods.filter(({ uid }) => older.has(uid));
  return hurt.length === 0 ? [] : [{ kind: "changed", network, pods: hurt, sinceMs: changedMs }];
}
