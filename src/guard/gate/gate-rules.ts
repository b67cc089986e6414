import type { GateReason } from "../../wire/gate-codes.ts";
import type { NodeFacts } from "../facts/world.ts";
import type { GateFacts } from "./gate-facts.ts";
import { alertsUnreadable } from "./reasons/alerts-unreadable.ts";
import { cniDaemonNotReady } from "./reasons/cni-daemon-not-ready.ts";
import { controlPlaneQuorum } from "./reasons/control-plane-quorum.ts";
import { decisionOpen } from "./reasons/decision-open.ts";
import { disruptionBudget } from "./reasons/disruption-budget.ts";
import { firingAlert } from "./reasons/firing-alert.ts";
import type { GateRule } from "./reasons/gate-rule.ts";
import { kuredLockHeld, kuredLockOrphaned } from "./reasons/kured-lock-held.ts";
import { lastHealthyReplica } from "./reasons/last-healthy-replica.ts";
import { nodeUnheard } from "./reasons/node-unheard.ts";
import { otherNodeCordoned, otherNodeNotReady, otherNodeRebooted } from "./reasons/other-node.ts";
import { outsideWindow } from "./reasons/outside-window.ts";
import { podBacklog } from "./reasons/pod-backlog.ts";

/** Every reason to deny, in the order in which a person reads them. */
const gateRules: readonly GateRule[] = [
  nodeUnheard,
  firingAlert,
  alertsUnreadable,
  decisionOpen,
  podBacklog,
  cniDaemonNotReady,
  kuredLockHeld,
  kuredLockOrphaned,
  controlPlaneQuorum,
  lastHealthyReplica,
  disruptionBudget,
  otherNodeNotReady,
  otherNodeCordoned,
  otherNodeRebooted,
  outsideWindow,
];

/** The definition takes no more. */
const reasonsMax = 32;

export function reasonsToDeny(node: NodeFacts, facts: GateFacts): readonly GateReason[] {
  return gateRules.flatMap((rule) => rule(node, facts)).slice(0, reasonsMax);
}
