import type { GateCode, GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";

const nodesMax = 5;
/** After a start pods come back, volumes are rebuilt and caches fill; the next node waits for that. */
const settleMs = 300_000;

/** Another node is not Ready: with this one there would be two. */
export function otherNodeNotReady(node: NodeFacts, facts: GateFacts): readonly GateReason[] {
  return reasons(node, facts, ({ isReady }) => !isReady, {
    code: "OtherNodeNotReady",
    says: "is not Ready",
    sinceMs: ({ readyChangedMs }) => readyChangedMs,
    remedy: (name) => `kubectl describe node ${name}; repair it, or remove the Node if the machine is gone`,
  });
}

/** Another node is cordoned: somebody works on it, or a reboot was left half done. */
export function otherNodeCordoned(node: NodeFacts, facts: GateFacts): readonly GateReason[] {
  return reasons(node, facts, ({ isCordoned }) => isCordoned === true, {
    code: "OtherNodeCordoned",
    says: "is cordoned",
    sinceMs: ({ cordonedMs }) => cordonedMs,
    remedy: (name) => `when the work there is done: kubectl uncordon ${name}`,
  });
}

/** Another node was started a moment ago and is not settled yet. */
export function otherNodeRebooted(node: NodeFacts, facts: GateFacts): readonly GateReason[] {
  const { rebootedMs, nowMs } = facts;
  return reasons(node, facts, ({ name }) => nowMs - (rebootedMs.get(name) ?? 0) < settleMs, {
    code: "OtherNodeRebooted",
    says: "was started less than 5 minutes ago",
    sinceMs: ({ name }) => rebootedMs.get(name),
    remedy: () => "wait; the next node follows 5 minutes after a start",
  });
}

interface Form {
  readonly code: GateCode;
  readonly says: string;
  readonly sinceMs: (other: NodeFacts) => number | undefined;
  readonly remedy: (name: string) => string;
}

function reasons(
  node: NodeFacts,
  { nodes, nowMs }: GateFacts,
  holds: (other: NodeFacts) => boolean,
  { code, says, sinceMs, remedy }: Form,
): readonly GateReason[] {
  const found: NodeFacts[] = [];
  for (const other of nodes.values()) if (other.name !== node.name && holds(other)) found.push(other);
  return found.slice(0, nodesMax).map((other) => ({
    code,
    message: `node ${other.name} ${says}${found.length > nodesMax ? `, one of ${found.length}` : ""}`,
    sinceMs: sinceMs(other) ?? nowMs,
    object: `Node/${other.name}`,
    remedy: remedy(other.name),
  }));
}
