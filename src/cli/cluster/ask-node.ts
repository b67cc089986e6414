import { KubeError, kubeStatusOf } from "../../kube/client/api.ts";
import { kubeRemedy } from "./kube-remedy.ts";
import type { Asking } from "./seen.ts";

export interface NodesAsking extends Asking {
  readonly metricsPort: number;
}

/** We need only names, but the server sends whole nodes. */
const pageSize = 100;
/** The API server needs some seconds to notice that a node is away. */
const askMs = 15_000;
const listMs = 30_000;

/** The names of all nodes that can run the daemon. */
export async function nodeNames({ api, signal }: NodesAsking): Promise<readonly string[]> {
  const names: string[] = [];
  let token = "";
  do {
    const query = new URLSearchParams({ limit: String(pageSize), ...(token === "" ? {} : { continue: token }) });
    const text = await api.call({
      method: "GET",
      path: `/api/v1/nodes?${query.toString()}`,
      deadlineMs: listMs,
      signal,
    });
    const page = JSON.parse(text) as NodeList; // every member is looked at as if it could be missing
    names.push(...(page.items ?? []).filter(isLinux).flatMap(({ metadata }) => metadata?.name ?? []));
    token = page.metadata?.continue ?? "";
  } while (token !== "");
  return names.toSorted();
}

/** Asks the daemon of a node on its metrics port, through the API server's node proxy. */
export function askNode({ api, metricsPort, signal }: NodesAsking, node: string, path: string): Promise<string> {
  const target = `/api/v1/nodes/http:${encodeURIComponent(node)}:${metricsPort}/proxy${path}`;
  return api.call({ method: "GET", path: target, deadlineMs: askMs, signal });
}

/** What helps against the failure to ask a node. */
export function nodeHint(thrown: unknown, metricsPort: number): string {
  const status = kubeStatusOf(thrown);
  if (thrown instanceof KubeError && status === 401) return kubeRemedy(thrown);
  if (status === 403) return "this needs the right to get nodes/proxy; or run the command on the node itself";
  if (status === 404) return "kubectl get nodes shows the names";
  return `the daemon's metricsPort must be ${metricsPort}, or set --metrics-port to the daemon's; then look at its pod: kubectl get pods -A -l app.kubernetes.io/name=levee -o wide`;
}

function isLinux({ metadata }: NodeItem): boolean {
  return metadata?.labels?.["kubernetes.io/os"] !== "windows";
}

interface NodeList {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly NodeItem[];
}

interface NodeItem {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
}
