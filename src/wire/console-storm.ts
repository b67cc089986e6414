/** The storm over the last hour. */
export interface StormView {
  /** How far back points go, and the time between two of them. */
  readonly spanMs: number;
  readonly stepMs: number;
  /** Namespaces to show, those with most waiting pods first; `` stands for all others. */
  readonly namespaces: readonly string[];
  /** Oldest first. Those before `liveSinceMs` come from the pods' own times: the server was not there. */
  readonly points: readonly StormPoint[];
  readonly liveSinceMs: number;
  /** In line by class at this moment: critical, ordinary, penalty, detach. */
  readonly classes: readonly ClassLine[];
  /** Pods that wait longest, at most 50. */
  readonly waiting: readonly WaitingPod[];
  /** Who is held back and why, at most 50. */
  readonly held: readonly HeldLine[];
  /** Failures that daemons told of, newest first, at most 50. */
  readonly failures: readonly FailureLine[];
}

export interface StormPoint {
  readonly atMs: number;
  /** Pods that have a node and no network yet. */
  readonly waiting: number;
  /** Pods that have their network. */
  readonly attached: number;
  /** Pods that got their network since the point before. */
  readonly done: number;
  /** `waiting` by namespace, at most 8 and `` for all others; absent when all are 0. */
  readonly byNamespace?: Readonly<Record<string, number>>;
  /** Calls in line by class (critical, ordinary, penalty, detach), by the daemons; absent when all are 0. */
  readonly byClass?: readonly number[];
}

export interface ClassLine {
  readonly class: string;
  readonly waiting: number;
  /** Absent in a cluster, where daemons do not tell it by class. */
  readonly running?: number;
  readonly oldestWaitMs: number;
}

export interface WaitingPod {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  readonly sinceMs: number;
}

/** Pods or a network that must wait before they are tried again. */
export interface HeldLine {
  readonly node: string;
  /** `pods`: so many that failed. `network`: fails for every pod. `hung`: a plugin that does not end. */
  readonly kind: "pods" | "network" | "hung";
  /** A network, `NAMESPACE/POD`, or empty. */
  readonly name: string;
  readonly count: number;
  readonly forMs: number;
  readonly why: string;
}

export interface FailureLine {
  readonly atMs: number;
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly verb: string;
  readonly why: string;
}

/** From Prometheus. */
export interface StormHistory {
  readonly stepMs: number;
  readonly points: readonly StormPoint[];
}
