/** The objects above pods that can run away, and what decides about their size. */
export interface OwnerFacts {
  /** Unfinished ones. */
  readonly jobs: readonly JobFacts[];
  readonly cronJobs: readonly CronJobFacts[];
  /** Without those that are named after the Deployment above them. */
  readonly replicaSets: readonly ReplicaSetFacts[];
  readonly autoscalers: readonly AutoscalerFacts[];
}

/** Who would put a change of this object back. */
export interface OwnerMarks {
  /** `CronJob/nightly`: the controller above it; empty when there is none. */
  readonly above: string;
  /** The Argo CD Application in the tracking annotation, if that annotation is about this object; else empty. */
  readonly trackedBy: string;
  /** The label `app.kubernetes.io/instance`: Argo CD's older mark, and just as often a Helm release. */
  readonly instance: string;
}

interface OwnerObject extends OwnerMarks {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface JobFacts extends OwnerObject {
  readonly parallelism: number;
  readonly isSuspended: boolean;
  /** The queue of Kueue that decides when it runs; absent without one. */
  readonly queue?: string;
}

export interface CronJobFacts extends OwnerObject {
  readonly isSuspended: boolean;
}

export interface ReplicaSetFacts extends OwnerObject {
  readonly replicas: number;
}

/** A HorizontalPodAutoscaler. */
export interface AutoscalerFacts {
  readonly namespace: string;
  readonly name: string;
  /** `Deployment/web`. */
  readonly target: string;
}
