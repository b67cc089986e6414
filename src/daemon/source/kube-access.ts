import type { Clock } from "../../base/clock.ts";
import type { KubeAccess } from "../../kube/access/access.ts";
import { inClusterAccess, serviceAccountFolder } from "../../kube/access/in-cluster.ts";
import { kubeconfigAccess } from "../../kube/access/kubeconfig.ts";

/** What the process was told of the cluster around it. */
export interface ClusterPlace {
  /** Empty when nobody said. */
  readonly nodeName: string;
  /** The API server as a pod finds it; undefined outside of a cluster. */
  readonly service: ServicePlace | undefined;
}

export interface ServicePlace {
  readonly host: string;
  readonly port: string;
  /** With the token and the cluster's authority. */
  readonly accountFolder: string;
}

/** Reads the variables that kubelet and the manifest set. The manifest of Multus names the node in its own variable. */
export function clusterPlaceOf(env: Readonly<Record<string, string | undefined>>, hostName: string): ClusterPlace {
  const read = (key: string): string => env[key] ?? "";
  const host = read("KUBERNETES_SERVICE_HOST");
  const port = read("KUBERNETES_SERVICE_PORT");
  return {
    // Kubelet takes the host's name in lower case for the node's unless it is told another.
    nodeName: read("MULTUS_NODE_NAME") || read("LEVEE_NODE_NAME") || hostName.toLowerCase(),
    service:
      host === "" || port === ""
        ? undefined
        : { host, port, accountFolder: read("LEVEE_SERVICE_ACCOUNT_DIR") || serviceAccountFolder },
  };
}

/** How the API server is reached: as a pod, else by a kubeconfig; undefined when there is neither. */
export async function accessOf(
  { kubeconfig }: { readonly kubeconfig: string | undefined },
  { service }: ClusterPlace,
  clock: Clock,
): Promise<KubeAccess | undefined> {
  if (service !== undefined) {
    const { host, port, accountFolder } = service;
    return inClusterAccess({ host, port, folder: accountFolder, clock });
  }
  return kubeconfig === undefined ? undefined : await kubeconfigAccess({ paths: [kubeconfig], clock });
}
