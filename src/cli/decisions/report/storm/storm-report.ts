import { decisionPhase } from "../../../../guard/decide/standing.ts";
import { timeMs } from "../../../../guard/json-values.ts";
import type { NodeStorms } from "../../../../state/recorder/node-storm.ts";
import { askNode, nodeNames } from "../../../cluster/ask-node.ts";
import { inLanes } from "../../../cluster/in-lanes.ts";
import { see, type Seen } from "../../../cluster/seen.ts";
import { CommandFailure, exitCode } from "../../../failure.ts";
import { plural } from "../../../terminal/plural.ts";
import { readDecisions } from "../../decision-source.ts";
import { askStorms, type StormsAsking, type StormsSaid } from "./ask-storms.ts";
import { clusterStorm, longestQueue, stormPodsMin, type ClusterStorm } from "./cluster-storm.ts";
import { nodeNow, type NodeNow } from "./node-now.ts";
import { askStormPast, type StormPast } from "./storm-past.ts";

/** A storm, and everything that could be learned about it. */
export interface StormReport {
  readonly storm: ClusterStorm;
  /** How many nodes told what their flight recorders have. */
  readonly nodesTold: number;
  /** All nodes of the cluster were asked. */
  readonly isWhole: boolean;
  readonly silent: readonly SilentNode[];
  /** Nodes of the storm whose flight recorder begins after it began: their older entries were overwritten. */
  readonly cut: readonly string[];
  /** The daemons' metrics of now, for nodes of the storm. */
  readonly now: readonly NodeNow[];
  /** Absent without the address of a Prometheus. */
  readonly past?: Seen<StormPast>;
  /** Decisions of the guard from the time of the storm. */
  readonly decisions: Seen<readonly StormDecision[]>;
}

interface SilentNode {
  readonly node: string;
  readonly why: string;
  readonly hint: string;
}

interface StormDecision {
  readonly name: string;
  readonly phase: string;
  readonly cause: string;
}

export interface StormQuestion extends StormsAsking {
  /** The guard's. */
  readonly namespace: string;
  /** Empty: all. */
  readonly nodes: readonly string[];
  readonly prometheus?: string | undefined;
  /** Only storms that ended after this moment. */
  readonly sinceMs: number;
}

/** The guard proposes within minutes, and a person may be slow to see what goes on. */
const decisionMarginMs = 3_600_000;

/** Asks the whole cluster, or some nodes of it, about the largest storm. */
export async function stormReport(question: StormQuestion): Promise<StormReport> {
  const nodes = await nodesOf(question);
  const answers = await askStorms(nodes, question);
  const silent = silentIn(answers);
  const told = new Map(
    [...answers].flatMap(([node, said]) => ("storms" in said ? [[node, said.storms] as const] : [])),
  );
  if (told.size === 0) throw nobodyTold(nodes, silent);
  const storm = clusterStorm(told, question.sinceMs);
  if (storm === undefined) throw noStorm(longestQueue(told, question.sinceMs), told.size, silent);
  const { prometheus } = question;
  return {
    ...{ storm, nodesTold: told.size, isWhole: question.nodes.length === 0, silent, cut: cutIn(storm, told) },
    now: await nowOf(storm, question),
    ...(prometheus === undefined ? {} : { past: await askStormPast(question, prometheus, storm) }),
    decisions: await decisionsOf(storm, question),
  };
}

async function nodesOf(question: StormQuestion): Promise<readonly string[]> {
  const all = await nodeNames(question);
  const strange = question.nodes.filter((node) => !all.includes(node));
  if (strange.length > 0)
    throw new CommandFailure("no-nodes", `Cannot ask ${strange.join(", ")}: the cluster has no such Linux node`, {
      remedy: "kubectl get nodes",
    });
  if (all.length === 0) throw new CommandFailure("no-nodes", "Cannot ask any node: the cluster has no Linux nodes");
  return question.nodes.length === 0 ? all : [...new Set(question.nodes)];
}

function silentIn(answers: ReadonlyMap<string, StormsSaid>): readonly SilentNode[] {
  return [...answers].flatMap(([node, said]) => ("storms" in said ? [] : [{ node, why: said.away, hint: said.hint }]));
}

function nobodyTold(nodes: readonly string[], [first]: readonly SilentNode[]): CommandFailure {
  const why = first === undefined ? "" : `; ${first.node}: ${first.why}`;
  return new CommandFailure("no-storm", `Cannot find a storm: none of ${plural(nodes.length, "node")} told${why}`, {
    remedy: first?.hint ?? "levee check node --all",
    exitCode: exitCode.unreachable,
  });
}

function noStorm(pods: number, nodesTold: number, silent: readonly SilentNode[]): CommandFailure {
  const among = silent.length === 0 ? "" : `; ${silent.map(({ node }) => node).join(", ")} could not be asked`;
  return new CommandFailure(
    "no-storm",
    `Cannot find a storm in the flight recorders of ${plural(nodesTold, "node")}: at most ${plural(pods, "pod")} waited in one go, fewer than ${stormPodsMin}${among}`,
    { remedy: "levee status shows what goes on now; recorderBytes says how much a node remembers" },
  );
}

function cutIn(storm: ClusterStorm, told: ReadonlyMap<string, NodeStorms>): readonly string[] {
  return storm.nodes.filter(({ node }) => (told.get(node)?.sinceMs ?? 0) >= storm.fromMs).map(({ node }) => node);
}

/** A daemon that answered a moment ago and does not now is left out. */
async function nowOf(storm: ClusterStorm, question: StormQuestion): Promise<readonly NodeNow[]> {
  const nodes = storm.nodes.map(({ node }) => node);
  const answers = await inLanes([...new Set(nodes)], (node) =>
    see(question, () => askNode(question, node, "/metrics")),
  );
  return [...answers].flatMap(([node, seen]) => ("value" in seen ? (nodeNow(node, seen.value) ?? []) : []));
}

function decisionsOf(storm: ClusterStorm, question: StormQuestion): Promise<Seen<readonly StormDecision[]>> {
  return see(question, async () => {
    const { decisions } = await readDecisions(question).catch((thrown: unknown) => {
      // Without the guard's CRD there are no Decisions.
      if (thrown instanceof CommandFailure && thrown.code === "guard-absent") return { decisions: [] };
      throw thrown;
    });
    return decisions
      .filter(({ metadata }) => isNear(timeMs(metadata.creationTimestamp), storm))
      .map((decision) => ({
        name: decision.metadata.name,
        phase: decisionPhase(decision),
        cause: decision.spec.cause,
      }));
  });
}

function isNear(atMs: number, { fromMs, toMs }: ClusterStorm): boolean {
  return atMs >= fromMs && atMs <= toMs + decisionMarginMs;
}
