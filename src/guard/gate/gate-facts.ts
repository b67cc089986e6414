import type { Decision } from "../decision/decision.ts";
import type { AlertFacts, NodeFacts, NodeViewFacts } from "../facts/world.ts";
import type { GateSettings } from "./gate-settings.ts";
import type { KuredLock } from "./kured-lock.ts";
import type { RebootException } from "./reboot-exception.ts";
import type { RebootOverride } from "./reboot-override.ts";

/** What the reasons depend on: made once per look, so that a reason costs little for each of many nodes. */
export interface GateFacts {
  readonly nowMs: number;
  readonly settings: GateSettings;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  readonly nodeViews: ReadonlyMap<string, NodeViewFacts>;
  readonly alerts: readonly AlertFacts[];
  readonly alertsUnread?: string;
  /** Only those that count now. */
  readonly exceptions: readonly RebootException[];
  /** Only those that count now, by node. */
  readonly overrides: ReadonlyMap<string, RebootOverride>;
  readonly decisions: readonly Decision[];
  /** Pods with a node that do not start, by node. */
  readonly backlog: ReadonlyMap<string, NodeBacklog>;
  /** CNI daemons that are not ready. */
  readonly idleDaemons: readonly IdleDaemon[];
  readonly locks: readonly KuredLock[];
  readonly shutBudgets: readonly ShutBudget[];
  /** By node, the volumes whose last healthy replica is there. */
  readonly lastReplicas: ReadonlyMap<string, readonly string[]>;
  /** The nodes that run a member of etcd as a static pod, and whether it is ready; empty where etcd is not in pods. */
  readonly etcdMembers: ReadonlyMap<string, boolean>;
  /** By node, when it was last seen to have been started again. */
  readonly rebootedMs: ReadonlyMap<string, number>;
  /** By node, when its turn to be rebooted began. */
  readonly turns: ReadonlyMap<string, number>;
}

export interface NodeBacklog {
  readonly pods: number;
  /** When the first of them was bound. */
  readonly sinceMs: number;
}

export interface IdleDaemon {
  /** `namespace/name`. */
  readonly daemonSet: string;
  /** Empty when a pod is missing and nobody can say on which node. */
  readonly node: string;
  /** The pod, or how many of them are missing. */
  readonly what: string;
}

/** A PodDisruptionBudget that allows nothing. */
export interface ShutBudget {
  readonly namespace: string;
  readonly name: string;
  readonly sinceMs: number;
  /** One of its pods for each node where a drain would have to evict it; absent while nobody knows: then it may be any node. */
  readonly podsByNode?: ReadonlyMap<string, string>;
}
