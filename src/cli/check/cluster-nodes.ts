import { KubeError, kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";
import type { ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";
import { toFailure } from "../failure.ts";
import { kubeRemedy } from "../cluster/kube-remedy.ts";
import { nodeReport, type NodeReport, type NodeSaid } from "./node-report.ts";

export interface NodesAsking {
  readonly api: KubeApi;
  readonly metricsPort: number;
  readonly signal: AbortSignal;
}

/** Names only, but the server sends whole nodes. */
const pageSize = 100;
/** A node that is away takes the API server some seconds to notice. */
const askMs = 15_000;
const listMs = 30_000;
/** The API server opens a connection to each node that is asked. */
const lanes = 8;

/** Every node that can run the daemon, by name. */
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

/** Asks the daemons of these nodes, some at a time, through the API server. */
export async function reportsOf(nodes: readonly string[], options: NodesAsking): Promise<readonly NodeReport[]> {
  const reports = new Map<string, NodeReport>();
  const waiting = [...nodes];
  const lane = async (): Promise<void> => {
    for (let node = waiting.shift(); node !== undefined; node = waiting.shift())
      reports.set(node, nodeReport({ node, said: await askNode(node, options), shim: "" }));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return nodes.flatMap((node) => reports.get(node) ?? []);
}

async function askNode(node: string, { api, metricsPort, signal }: NodesAsking): Promise<NodeSaid> {
  const path = `/api/v1/nodes/http:${encodeURIComponent(node)}:${metricsPort}/proxy/nodez`;
  try {
    return saidOf(await api.call({ method: "GET", path, deadlineMs: askMs, signal }));
  } catch (thrown) {
    signal.throwIfAborted();
    return { away: toFailure(thrown).message, hint: hintFor(thrown, metricsPort) };
  }
}

function saidOf(text: string): NodeSaid {
  const said = parsed(text) as { readonly node?: NodeAnswer; readonly checks?: ChecksAnswer } | null; // looked at below
  if (typeof said?.node?.software === "string" && Array.isArray(said.checks?.checks))
    return { node: said.node, checks: said.checks };
  throw new KubeError("api-refused", "what answers on that port is no daemon of Levee");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A page of something else: told by the caller.
    return undefined;
  }
}

function hintFor(thrown: unknown, metricsPort: number): string {
  const status = kubeStatusOf(thrown);
  if (thrown instanceof KubeError && status === 401) return kubeRemedy(thrown);
  if (status === 403) return "it takes the right to get nodes/proxy; ask on the node itself: levee check node";
  if (status === 404) return "kubectl get nodes shows the names";
  return `the daemon's metricsPort must be ${metricsPort}, or --metrics-port the daemon's; then look at its pod: kubectl -n levee-system get pods -o wide (of the drop-in: -n kube-system -l name=multus)`;
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
