import { KubeError, kubeStatusOf } from "../../kube/client/api.ts";
import type { ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";
import { toFailure } from "../failure.ts";
import { kubeRemedy } from "../cluster/kube-remedy.ts";
import type { Asking } from "../cluster/seen.ts";
import { nodeReport, type NodeReport, type NodeSaid } from "./node-report.ts";

export interface NodesAsking extends Asking {
  readonly metricsPort: number;
}

/** We need only names, but the server sends whole nodes. */
const pageSize = 100;
/** The API server needs some seconds to notice that a node is away. */
const askMs = 15_000;
const listMs = 30_000;
/** The API server opens one connection per node. */
const lanes = 8;

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

/** Asks the daemons of these nodes through the API server, a few at a time. */
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
  throw new KubeError("api-refused", "the program on that port is not Levee's daemon");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not our page; the caller throws.
    return undefined;
  }
}

function hintFor(thrown: unknown, metricsPort: number): string {
  const status = kubeStatusOf(thrown);
  if (thrown instanceof KubeError && status === 401) return kubeRemedy(thrown);
  if (status === 403) return "this needs the right to get nodes/proxy; or run levee check node on the node itself";
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
