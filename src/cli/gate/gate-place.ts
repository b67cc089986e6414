import type { KubeApi } from "../../kube/client/api.ts";
import { guardNamespaceOf, type ClusterCommandOptions } from "../cluster/cluster-options.ts";
import type { Shell } from "../shell.ts";

export interface GatePlace {
  readonly api: KubeApi;
  /** Of the guard, its exceptions and approvals. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

export function gatePlace(api: KubeApi, { interrupted }: Shell, options: ClusterCommandOptions): GatePlace {
  return { api, namespace: guardNamespaceOf(options), signal: interrupted };
}
