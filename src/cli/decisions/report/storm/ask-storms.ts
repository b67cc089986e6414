import type { Clock } from "../../../../base/clock.ts";
import { kubeStatusOf } from "../../../../kube/client/api.ts";
import { isObject } from "../../../../kube/client/json-fields.ts";
import type { NodeStorms } from "../../../../state/recorder/node-storm.ts";
import { askNode, nodeHint, type NodesAsking } from "../../../cluster/ask-node.ts";
import { inLanes } from "../../../cluster/in-lanes.ts";
import { toFailure } from "../../../failure.ts";

export interface StormsAsking extends NodesAsking {
  readonly clock: Clock;
}

/** The storms of a node, or why it could not be asked. */
export type StormsSaid = { readonly storms: NodeStorms } | { readonly away: string; readonly hint: string };

/** A daemon rests for five seconds between two looks into its flight recorder. */
const restMs = 6_000;
const triesMax = 3;

/** Asks the daemons of these nodes what their flight recorders have of storms. */
export function askStorms(nodes: readonly string[], asking: StormsAsking): Promise<ReadonlyMap<string, StormsSaid>> {
  return inLanes(nodes, (node) => said(node, asking, 1));
}

async function said(node: string, asking: StormsAsking, attempt: number): Promise<StormsSaid> {
  try {
    return parsed(await askNode(asking, node, "/stormz"));
  } catch (thrown) {
    asking.signal.throwIfAborted();
    const { message } = toFailure(thrown);
    if (message.includes("too many ask at once") && attempt < triesMax) {
      await asking.clock.sleep(restMs, asking.signal);
      return await said(node, asking, attempt + 1);
    }
    // The node was listed a moment ago.
    if (kubeStatusOf(thrown) === 404)
      return {
        away: "its daemon is of an earlier release, or not Levee's",
        hint: "levee check node --all shows which",
      };
    return { away: message, hint: nodeHint(thrown, asking.metricsPort) };
  }
}

function parsed(text: string): StormsSaid {
  const storms = stormsIn(text);
  if (storms !== undefined) return { storms };
  return { away: "the program on that port is not Levee's daemon", hint: "--metrics-port of the daemons" };
}

function stormsIn(text: string): NodeStorms | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value["sinceMs"] !== "number" || !Array.isArray(value["storms"])) return undefined;
    return value["storms"].every(isStorm) ? (value as unknown as NodeStorms) : undefined; // every member was looked at
  } catch {
    // Not our page.
    return undefined;
  }
}

const numbers = [
  ...["fromMs", "toMs", "pods", "lineMax", "lineMaxMs", "attached", "held", "holdMsMax", "oomKills", "hung", "leaks"],
];
const lists = ["namespaces", "classes", "waits", "failures", "plugins", "moments"];

function isStorm(value: unknown): boolean {
  return (
    isObject(value) &&
    numbers.every((name) => typeof value[name] === "number") &&
    lists.every((name) => Array.isArray(value[name]))
  );
}
