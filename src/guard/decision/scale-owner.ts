/** How the owner of a backlog becomes smaller. */
export type ScaleOwner = ScaleTarget & (ScaleDown | Suspend);

interface ScaleTarget {
  readonly kind: ScalableKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The reason for the number or the way, for people. */
  readonly why: string;
}

/** `replicas` of a Deployment or ReplicaSet, `parallelism` of a Job. */
interface ScaleDown {
  readonly way: "Scale";
  /** As it was at the proposal; the step pauses at another number. */
  readonly from: number;
  readonly to: number;
}

/** `spec.suspend` of a Job or CronJob. */
interface Suspend {
  readonly way: "Suspend";
  /** Jobs of a CronJob that are suspended with it: none of their pods has started. */
  readonly jobs?: readonly JobTarget[];
}

export interface JobTarget {
  readonly name: string;
  readonly uid: string;
}

export const scalableKinds = ["Deployment", "ReplicaSet", "Job", "CronJob"] as const;
export type ScalableKind = (typeof scalableKinds)[number];
