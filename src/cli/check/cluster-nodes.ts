import { KubeError } from "../../kube/client/api.ts";
import type { ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";
import { toFailure } from "../failure.ts";
import { askNode, nodeHint, type NodesAsking } from "../cluster/ask-node.ts";
import { inLanes } from "../cluster/in-lanes.ts";
import { nodeReport, type NodeReport, type NodeSaid } from "./node-report.ts";

/** Asks the daemons of these nodes through the API server, a few at a time. */
export async function reportsOf(nodes: readonly string[], options: NodesAsking): Promise<readonly NodeReport[]> {
  const reports = await inLanes(nodes, async (node) =>
    nodeReport({ node, said: await sayingOf(node, options), shim: "" }),
  );
  return [...reports.values()];
}

async function sayingOf(node: string, options: NodesAsking): Promise<NodeSaid> {
  try {
    return saidOf(await askNode(options, node, "/nodez"));
  } catch (thrown) {
    options.signal.throwIfAborted();
    return { away: toFailure(thrown).message, hint: nodeHint(thrown, options.metricsPort) };
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
