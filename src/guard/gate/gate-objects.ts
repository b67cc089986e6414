import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { FollowableApi } from "../../kube/client/api.ts";
import type { Named } from "../../kube/watch/object-store.ts";
import { Reflector } from "../../kube/watch/reflector.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";
import { gateApiVersion, gatesPath, parseRebootGate, type RebootGate } from "../../wire/reboot-gate.ts";
import { projectBudget, projectReplica, type BudgetFacts, type ReplicaFacts } from "./project-storage.ts";
import { parseRebootException, type RebootException } from "./reboot-exception.ts";
import { parseRebootOverride, type RebootOverride } from "./reboot-override.ts";

interface GateObjectOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of exceptions and overrides. */
  readonly namespace: string;
}

/** A gate with the name that a reflector finds it by. An object that is no gate is kept, so that it can be removed. */
interface KeptGate extends Named {
  readonly gate: RebootGate | undefined;
  readonly fence: number;
}

/** A restarting API server is back sooner. */
const blindAfterMs = 60_000;
/** Longhorn's definition; all others belong to Kubernetes or are installed with the guard. */
const optional = "replicas";

/**
 * A local copy of what only the gate needs. It has its own health: a cluster whose definitions are older than its guard
 * has no gate, and a guard all the same.
 */
export class GateObjects {
  readonly #options: GateObjectOptions;
  readonly #all: Reflector<Named>[] = [];
  readonly #gates;
  readonly #exceptions;
  readonly #overrides;
  readonly #budgets;
  readonly #replicas;

  constructor(options: GateObjectOptions) {
    this.#options = options;
    const ours = `/apis/${gateApiVersion}/namespaces/${encodeURIComponent(options.namespace)}`;
    this.#gates = this.#follow("rebootgates", gatesPath, keepGate);
    this.#exceptions = this.#follow("rebootexceptions", `${ours}/rebootexceptions`, parseRebootException);
    this.#overrides = this.#follow("decisionapprovals", `${ours}/decisionapprovals`, parseRebootOverride);
    this.#budgets = this.#follow("poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets", projectBudget);
    this.#replicas = this.#follow(optional, "/apis/longhorn.io/v1beta2/replicas", projectReplica);
    for (const reflector of this.#all) reflector.start();
  }

  /** Everything is listed, and nothing has been unreachable for long. Otherwise nothing is allowed. */
  isCurrent(): boolean {
    const nowMs = this.#options.clock.wallMs();
    return this.health().every(
      ({ isSynced, isAbsent, failingSinceMs }) =>
        isAbsent || (isSynced && (failingSinceMs === undefined || nowMs - failingSinceMs <= blindAfterMs)),
    );
  }

  health(): readonly ReflectorHealth[] {
    return this.#all.map((reflector) => {
      const health = reflector.health();
      return { ...health, isAbsent: health.isAbsent && health.resource === optional };
    });
  }

  /** The gates by node. */
  gates(): ReadonlyMap<string, RebootGate> {
    const found = new Map<string, RebootGate>();
    for (const { name, gate } of this.#gates.store.values()) found.set(name, gate ?? unreadable(name));
    return found;
  }

  /** The same; undefined before the first list, because no gate at all would mean that every node was rebooted. */
  known(): readonly RebootGate[] | undefined {
    return this.#gates.health().isSynced ? [...this.gates().values()] : undefined;
  }

  gate(node: string): RebootGate | undefined {
    return this.#gates.store.get("", node)?.gate;
  }

  /** The highest fence in any gate: a later leader must not be below it. */
  fence(): number {
    let fence = 0;
    for (const one of this.#gates.store.values()) fence = Math.max(fence, one.fence);
    return fence;
  }

  exceptions(): readonly RebootException[] {
    return [...this.#exceptions.store.values()];
  }

  overrides(): readonly RebootOverride[] {
    return [...this.#overrides.store.values()];
  }

  /**
   * Without those of Longhorn's instance managers: they allow nothing until a node is cordoned, and then Longhorn removes
   * them if it can spare the node. Its replicas say the same sooner.
   */
  shutBudgets(): readonly BudgetFacts[] {
    const longhorn = new Set<string>();
    for (const { namespace } of this.replicas()) longhorn.add(namespace);
    return [...this.#budgets.store.values()].filter(
      ({ isShut, namespace, name }) => isShut && !(longhorn.has(namespace) && name.startsWith("instance-manager-")),
    );
  }

  replicas(): Iterable<ReplicaFacts> {
    return this.#replicas.store.values();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((reflector) => reflector.close()));
  }

  #follow<T extends Named>(resource: string, path: string, project: (value: unknown) => T | undefined): Reflector<T> {
    const { api, clock, logger } = this.#options;
    const reflector = new Reflector<T>({ api, clock, logger, resource, path, project, isSame: isDeepStrictEqual });
    this.#all.push(reflector as unknown as Reflector<Named>);
    return reflector;
  }
}

function keepGate(value: unknown): KeptGate | undefined {
  const { metadata, status } = value as { metadata?: { name?: unknown }; status?: { fence?: unknown } }; // every field is checked
  const name = metadata?.name;
  if (typeof name !== "string") return undefined;
  const fence = status?.fence;
  return { namespace: "", name, gate: parseRebootGate(value), fence: typeof fence === "number" ? fence : 0 };
}

/** Stands for an object that cannot be read: it has expired, so it is Deny, and the next look writes or removes it. */
function unreadable(node: string): RebootGate {
  return { node, verdict: "Unknown", reasons: [], observedAtMs: 0, expiresAtMs: 0, exceptions: [] };
}
