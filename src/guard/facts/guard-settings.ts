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
  /** How long it must have been calm before a raised limit is proposed to go down; a week unless told, Infinity for never. */
  readonly calmForMs?: number;
  /** Asked before a recovery counts as verified. */
  readonly verifyUrls?: readonly VerifyUrl[];
  /** Asked then for the probes of blackbox-exporter. */
  readonly prometheus?: PrometheusServer;
}

/** The files and the name by which a server outside of the cluster's API knows us and is known. */
export interface ServerFiles {
  /** A file with a bearer token. */
  readonly token?: string;
  /** A file with the certificate authorities to trust instead of the machine's. */
  readonly ca?: string;
  /** The name in its certificate, where the URL has an IP address. */
  readonly serverName?: string;
}

/** A page of the site that answers with this status when all is well. */
export interface VerifyUrl extends Omit<ServerFiles, "token"> {
  readonly url: string;
  readonly status: number;
}

export interface PrometheusServer extends ServerFiles {
  readonly url: string;
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
