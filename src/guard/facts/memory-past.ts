/** What to ask Prometheus about a container whose memory the guard has raised. */
export interface MemoryQuestion {
  /** As in `MemoryCalm`. */
  readonly key: string;
  readonly limit: string;
  readonly namespace: string;
  readonly daemonSet: string;
  readonly container: string;
  /** The length of time that must have been calm. */
  readonly lengthMs: number;
  /** The lower memory is being tried now: what each pod uses is asked too, every minute. */
  readonly isTried: boolean;
}

/** What Prometheus has of such a container, from `fromMs` to `atMs`; `atMs` is 0 when it has never answered. */
export interface MemoryPast {
  readonly key: string;
  readonly limit: string;
  readonly fromMs: number;
  readonly atMs: number;
  /** Why it could not be asked again after that; empty when it could. */
  readonly unread: string;
  /** The most that one of its pods used, and the pod; 0 without any sample. */
  readonly peakBytes: number;
  readonly peakPod: string;
  /** By pod: how many quarters of an hour have a sample of its memory. */
  readonly quarters: ReadonlyMap<string, number>;
  /** Some of the pods in which a process was killed for memory. */
  readonly killed: readonly string[];
  /** How many pods have a counter that would show a kill. */
  readonly counted: number;
}

/** What one pod of a daemon used when it was last looked at. */
export interface PodUse {
  readonly namespace: string;
  readonly pod: string;
  readonly atMs: number;
  readonly usedBytes: number;
}
