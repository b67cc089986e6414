import type { PolicyObject } from "../approve/policy-standing.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { CniDaemon } from "../facts/guard-settings.ts";
import type { DaemonSetFacts, World } from "../facts/world.ts";
import type { GateFacts, IdleDaemon, NodeBacklog, ShutBudget } from "./gate-facts.ts";
import type { GateSettings } from "./gate-settings.ts";
import { exceptionProblem, overrideProblem } from "./gate-words.ts";
import { parseKuredLock, type KuredLock } from "./kured-lock.ts";
import { lastReplicas, type BudgetFacts, type ReplicaFacts } from "./project-storage.ts";
import type { RebootException } from "./reboot-exception.ts";
import type { RebootOverride } from "./reboot-override.ts";

/** Everything a look begins with. */
export interface GateWorld {
  readonly world: World;
  readonly settings: GateSettings;
  readonly cniDaemons: readonly CniDaemon[];
  readonly policies: readonly PolicyObject[];
  readonly exceptions: readonly RebootException[];
  readonly overrides: readonly RebootOverride[];
  readonly shutBudgets: readonly BudgetFacts[];
  /** The pods of shut budgets by `namespace/name`; a budget that is missing here is not known yet. */
  readonly budgetPods: ReadonlyMap<string, readonly string[]>;
  readonly replicas: Iterable<ReplicaFacts>;
  readonly rebootedMs: ReadonlyMap<string, number>;
  readonly turns: ReadonlyMap<string, number>;
}

/** A bound pod starts within seconds; below this it is not late. */
const lateMs = 60_000;

/** The facts of one look. It walks over all pods once. */
export function gateFactsOf(given: GateWorld): GateFacts {
  const { world, settings, policies } = given;
  const { nowMs } = world;
  const pods = new PodWalk(given);
  for (const pod of world.pods) pods.take(pod);
  return {
    nowMs,
    settings,
    nodes: new Map(world.nodes.map((node) => [node.name, node])),
    nodeViews: new Map(world.nodeViews.map((view) => [view.node, view])),
    alerts: world.alerts,
    ...(world.alertsUnread === undefined ? {} : { alertsUnread: world.alertsUnread }),
    exceptions: given.exceptions.filter((one) => exceptionProblem(one, policies, nowMs) === undefined),
    overrides: overridesByNode(given.overrides.filter((one) => overrideProblem(one, policies, nowMs) === undefined)),
    decisions: world.decisions,
    backlog: pods.backlog,
    idleDaemons: pods.idleDaemons(),
    locks: locksOf(world.daemonSets, settings, nowMs),
    shutBudgets: pods.shutBudgets(),
    lastReplicas: lastReplicas(given.replicas),
    etcdMembers: pods.etcdMembers,
    rebootedMs: given.rebootedMs,
    turns: given.turns,
  };
}

/** Of several words about one node the one that lasts longest counts. */
function overridesByNode(overrides: readonly RebootOverride[]): ReadonlyMap<string, RebootOverride> {
  const found = new Map<string, RebootOverride>();
  for (const one of overrides) if (one.untilMs > (found.get(one.node)?.untilMs ?? 0)) found.set(one.node, one);
  return found;
}

function locksOf(daemonSets: readonly DaemonSetFacts[], { kured }: GateSettings, nowMs: number): readonly KuredLock[] {
  return daemonSets.flatMap(({ namespace, name, kuredLock }) =>
    kuredLock !== undefined && kured.includes(`${namespace}/${name}`)
      ? parseKuredLock(`${namespace}/${name}`, kuredLock, nowMs)
      : [],
  );
}

/** What the reasons need of the pods, gathered in one walk. */
class PodWalk {
  readonly backlog = new Map<string, NodeBacklog>();
  readonly etcdMembers = new Map<string, boolean>();
  readonly #given: GateWorld;
  /** The CNI daemons that exist, by `namespace/DaemonSet/name`. */
  readonly #daemons: ReadonlyMap<string, DaemonSetFacts>;
  readonly #seenDaemons = new Map<string, number>();
  readonly #idle: IdleDaemon[] = [];
  /** The pods of shut budgets by `namespace/name`, each with its budgets. */
  readonly #covered = new Map<string, ShutBudget[]>();
  readonly #budgets: ShutBudget[] = [];

  constructor(given: GateWorld) {
    this.#given = given;
    const { world, cniDaemons, shutBudgets } = given;
    const names = new Set(cniDaemons.map(({ namespace, daemonSet }) => `${namespace}/DaemonSet/${daemonSet}`));
    this.#daemons = new Map(
      world.daemonSets
        .map((one) => [`${one.namespace}/DaemonSet/${one.name}`, one] as const)
        .filter(([key]) => names.has(key)),
    );
    for (const budget of shutBudgets) this.#cover(budget);
  }

  take(pod: ClusterPod): void {
    this.#countBacklog(pod);
    const daemon = `${pod.namespace}/${pod.owner}`;
    if (this.#daemons.has(daemon) && !pod.isDeleting) this.#takeDaemon(daemon, pod);
    if (pod.isMirror && pod.namespace === "kube-system" && pod.name.startsWith("etcd-"))
      this.etcdMembers.set(pod.node, pod.isReady === true);
    if (this.#covered.size > 0) this.#takeCovered(pod);
  }

  /** The pods that are not ready, and for each DaemonSet the number that is missing. */
  idleDaemons(): readonly IdleDaemon[] {
    const missing = [...this.#daemons].flatMap(([key, { namespace, name, desired }]) => {
      const count = desired - (this.#seenDaemons.get(key) ?? 0);
      return count > 0 ? [{ daemonSet: `${namespace}/${name}`, node: "", what: `${count} pods` }] : [];
    });
    return [...this.#idle, ...missing];
  }

  shutBudgets(): readonly ShutBudget[] {
    return this.#budgets.filter(({ podsByNode }) => podsByNode === undefined || podsByNode.size > 0);
  }

  #countBacklog({ phase, everRan, boundMs, node, isDeleting }: ClusterPod): void {
    if (phase !== "Pending" || everRan || isDeleting || boundMs === 0) return;
    if (this.#given.world.nowMs - boundMs <= lateMs) return;
    const { pods, sinceMs } = this.backlog.get(node) ?? { pods: 0, sinceMs: boundMs };
    this.backlog.set(node, { pods: pods + 1, sinceMs: Math.min(sinceMs, boundMs) });
  }

  #takeDaemon(key: string, { node, name, namespace, owner, isReady }: ClusterPod): void {
    this.#seenDaemons.set(key, (this.#seenDaemons.get(key) ?? 0) + 1);
    if (isReady !== true)
      this.#idle.push({ daemonSet: `${namespace}/${owner.slice("DaemonSet/".length)}`, node, what: name });
  }

  #cover({ namespace, name, sinceMs }: BudgetFacts): void {
    const pods = this.#given.budgetPods.get(`${namespace}/${name}`);
    const budget = {
      namespace,
      name,
      sinceMs,
      ...(pods === undefined ? {} : { podsByNode: new Map<string, string>() }),
    };
    this.#budgets.push(budget);
    for (const pod of pods ?? []) {
      const key = `${namespace}/${pod}`;
      this.#covered.set(key, [...(this.#covered.get(key) ?? []), budget]);
    }
  }

  /** A drain leaves the pods of DaemonSets and static pods alone, and pods that have ended. */
  #takeCovered({ namespace, name, node, owner, isMirror, phase }: ClusterPod): void {
    const budgets = this.#covered.get(`${namespace}/${name}`);
    if (budgets === undefined || node === "" || isMirror || owner.startsWith("DaemonSet/")) return;
    if (phase === "Succeeded" || phase === "Failed") return;
    for (const { podsByNode } of budgets) (podsByNode as Map<string, string> | undefined)?.set(node, name); // made in `#cover`
  }
}
