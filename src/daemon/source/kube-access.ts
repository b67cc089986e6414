import { readFile } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import type { KubeAccess } from "../../kube/access/access.ts";
import { inClusterAccess, serviceAccountFolder } from "../../kube/access/in-cluster.ts";
import { kubeconfigAccess } from "../../kube/access/kubeconfig.ts";

/** What the environment says about the cluster. */
export interface ClusterPlace {
  /** Empty when unknown. */
  readonly nodeName: string;
  /** The API server's service; undefined outside of a cluster. */
  readonly service: ServicePlace | undefined;
}

interface ServicePlace {
  readonly host: string;
  readonly port: string;
  /** The folder with the token and the cluster's authority. */
  readonly accountFolder: string;
}

/** Reads the variables that kubelet and the manifest set. Multus' manifest has its own variable for the node's name. */
export function clusterPlaceOf(env: Readonly<Record<string, string | undefined>>, hostName: string): ClusterPlace {
  const read = (key: string): string => env[key] ?? "";
  const host = read("KUBERNETES_SERVICE_HOST");
  const port = read("KUBERNETES_SERVICE_PORT");
  return {
    // Kubelet's default for the node's name is the host name in lower case.
    nodeName: read("MULTUS_NODE_NAME") || read("LEVEE_NODE_NAME") || hostName.toLowerCase(),
    service:
      host === "" || port === ""
        ? undefined
        : { host, port, accountFolder: read("LEVEE_SERVICE_ACCOUNT_DIR") || serviceAccountFolder },
  };
}

/** Access to the API server: as a pod, else by a kubeconfig; undefined when there is neither. */
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

/** The namespace of the daemon's pod; undefined where it is none. Without it the daemon finds no pods of its own. */
export async function ownNamespace({ service }: ClusterPlace): Promise<string | undefined> {
  if (service === undefined) return undefined;
  const text = await readFile(`${service.accountFolder}/namespace`, "utf8").catch(() => "");
  return text.trim() === "" ? undefined : text.trim();
}
