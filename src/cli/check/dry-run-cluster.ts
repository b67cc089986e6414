import { KubeError, kubeStatusOf, metadataOnly } from "../../kube/client/api.ts";
import { dryRunObject, dryRunsPath, type DryRunAnswer } from "../../wire/dry-run.ts";
import type { Clock } from "../../base/clock.ts";
import { CommandFailure, toFailure } from "../failure.ts";
import { askNode, type NodesAsking } from "../cluster/ask-node.ts";
import { poolLeases } from "../cluster/pool-leases.ts";
import { inLanes } from "../cluster/in-lanes.ts";
import { keptDryRun, lostDryRun, pollMs, refusedDryRun, triesMsMax, type DryRunResult } from "./dry-run-result.ts";

interface ClusterDryRun extends NodesAsking {
  readonly clock: Clock;
  /** `namespace/name`. */
  readonly network: string;
  readonly nodes: readonly string[];
}

/** Each dry run takes an address, and a pool may be small. */
const lanes = 4;
const requestMs = 15_000;
/** A daemon that tries another network just now is asked again for so long. */
const busyMsMax = 30_000;
/** Requests that killed commands have left count no more after ten minutes. */
const staleMs = 3_600_000;

/** Has the daemons of these nodes try a network. The request is an object of the cluster, and is removed at the end. */
export async function dryRunNodes(of: ClusterDryRun): Promise<ReadonlyMap<string, DryRunResult>> {
  const name = await makeRequest(of);
  try {
    return await withoutKept(await inLanes(of.nodes, (node) => dryRunOn(node, name, of), lanes), of);
  } finally {
    await removeRequest(name, of);
  }
}

/** Those that have passed, unless whereabouts still holds an address for one. */
async function withoutKept(
  results: ReadonlyMap<string, DryRunResult>,
  of: ClusterDryRun,
): Promise<ReadonlyMap<string, DryRunResult>> {
  const idOf = ({ state, containerId = "" }: DryRunResult): string => (state === "passed" ? containerId : "");
  const ids = new Set([...results.values()].map(idOf).filter((id) => id !== ""));
  if (ids.size === 0) return results;
  const held = await poolLeases(of, ids);
  return new Map(
    [...results].map(([node, result]) => {
      const kept = held.get(idOf(result));
      return [node, kept === undefined ? result : keptDryRun(result, kept)];
    }),
  );
}

async function makeRequest({ api, signal, network, nodes }: ClusterDryRun): Promise<string> {
  const [namespace = "", name = ""] = network.split("/");
  try {
    const body = JSON.stringify(dryRunObject({ network: name, nodes }));
    const path = dryRunsPath(namespace);
    const made = await api.call({ method: "POST", path, body, accept: metadataOnly, deadlineMs: requestMs, signal });
    const { metadata } = JSON.parse(made) as { readonly metadata?: { readonly name?: string } };
    if (metadata?.name !== undefined) return metadata.name;
    throw new KubeError("api-refused", "the API server gave the request no name");
  } catch (thrown) {
    signal.throwIfAborted();
    const remedy = remedies[kubeStatusOf(thrown) ?? 0] ?? toFailure(thrown).remedy;
    throw new CommandFailure("check-failed", `Cannot ask for a dry run of ${network}: ${toFailure(thrown).message}`, {
      remedy,
    });
  }
}

const remedies: Readonly<Record<number, string>> = {
  403: "this needs the right to create networkdryruns.levee.dev in the namespace of the network; or run the command on the node itself",
  404: "apply the CustomResourceDefinition networkdryruns.levee.dev of deploy/crd; or run the command on the node itself",
};

/** Also those that earlier commands left. What cannot be removed does no harm: it counts for ten minutes only. */
async function removeRequest(name: string, of: ClusterDryRun): Promise<void> {
  const [namespace = ""] = of.network.split("/");
  const path = dryRunsPath(namespace);
  const list = await of.api
    .call({ method: "GET", path: `${path}?limit=100`, deadlineMs: requestMs })
    .then((text) => JSON.parse(text) as { readonly items?: readonly Leftover[] })
    .catch(() => undefined);
  const isStale = ({ metadata }: Leftover): boolean =>
    of.clock.wallMs() - Date.parse(metadata?.creationTimestamp ?? "") > staleMs;
  const old = (list?.items ?? []).filter(isStale).flatMap(({ metadata }) => metadata?.name ?? []);
  for (const one of [name, ...old])
    await of.api
      .call({ method: "DELETE", path: `${path}/${encodeURIComponent(one)}`, deadlineMs: requestMs })
      .catch(() => undefined);
}

interface Leftover {
  readonly metadata?: { readonly name?: string; readonly creationTimestamp?: string };
}

async function dryRunOn(node: string, request: string, of: ClusterDryRun): Promise<DryRunResult> {
  const { clock, signal } = of;
  const startedMs = clock.monotonicMs();
  const passedMs = (): number => clock.monotonicMs() - startedMs;
  for (let answer: DryRunAnswer | undefined; passedMs() < triesMsMax; await clock.sleep(pollMs, signal)) {
    try {
      answer = await answerOf(node, request, of);
      if (answer.state !== "running") return answer;
    } catch (thrown) {
      signal.throwIfAborted();
      const isBusy = kubeStatusOf(thrown) === 503 && passedMs() < busyMsMax;
      if (isBusy) continue;
      return answer === undefined ? refusedDryRun(reasonOf(thrown), "") : lostDryRun(toFailure(thrown).message);
    }
  }
  return lostDryRun(`it has not ended within ${triesMsMax / 1_000} s`);
}

async function answerOf(node: string, request: string, of: ClusterDryRun): Promise<DryRunAnswer> {
  const [namespace = ""] = of.network.split("/");
  // A newer daemon only adds fields.
  return JSON.parse(await askNode(of, node, `/dryrunz/${namespace}/${request}`)) as DryRunAnswer;
}

function reasonOf(thrown: unknown): string {
  return kubeStatusOf(thrown) === 404
    ? "the daemon of this node does not take the request: it is too old, it has no right to get networkdryruns.levee.dev, or the clock of its node is wrong by minutes"
    : toFailure(thrown).message;
}
