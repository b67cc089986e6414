/** The guard's settings about its cluster. */
export interface GuardSettings {
  /** The namespace of Decisions. */
  readonly namespace: string;
  /** The `cluster` label of this cluster's alerts; empty when they carry none. */
  readonly cluster: string;
  /** The daemons that pod starts depend on. */
  readonly cniDaemons: readonly CniDaemon[];
  /** How long a bound pod may wait before it is stuck; five minutes unless told. */
  readonly stuckAfterMs?: number;
}

export interface CniDaemon {
  readonly namespace: string;
  readonly daemonSet: string;
  readonly container: string;
}

export const defaultGuardSettings: GuardSettings = {
  namespace: "levee-system",
  cluster: "",
  cniDaemons: [
    { namespace: "kube-system", daemonSet: "kube-multus-ds", container: "kube-multus" },
    // RKE2's packaged Multus, as a thick plugin. The thin one has no daemon that pods wait for.
    { namespace: "kube-system", daemonSet: "rke2-multus", container: "kube-multus" },
    { namespace: "levee-system", daemonSet: "levee", container: "daemon" },
  ],
};
