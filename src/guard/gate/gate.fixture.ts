import { readyPod } from "../world.fixture.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import type { NodeFacts, NodeViewFacts, World } from "../facts/world.ts";
import { installedPolicies } from "../approve/policies.fixture.ts";
import { world } from "../world.fixture.ts";
import type { GateFacts } from "./gate-facts.ts";
import { gateFactsOf, type GateWorld } from "./gate-facts-of.ts";
import { defaultGateSettings } from "./gate-settings.ts";

/** The night of 30 May: the master got its mark at 03:33. */
export const markedMs = Date.parse("2026-05-30T03:33:00Z");
export const gateNowMs = Date.parse("2026-05-30T03:40:00Z");

export const policies = installedPolicies("2026-05-01T00:00:00Z");

export const gateNodes: readonly NodeFacts[] = ["k8s-master", "k8s-node1", "k8s-node2"].map((name) => ({
  name,
  isReady: true,
  memoryBytes: 2 ** 30,
  address: "",
  bootId: `boot-${name}`,
  ...(name === "k8s-master" ? { isControlPlane: true as const } : {}),
}));

/** These nodes with changes to one of them. */
export function nodesWith(name: string, changes: Partial<NodeFacts>): readonly NodeFacts[] {
  return gateNodes.map((node) => (node.name === name ? { ...node, ...changes } : node));
}

export function viewOf(node: string, changes: Partial<NodeViewFacts> = {}): NodeViewFacts {
  return { node, atMs: gateNowMs - 20_000, waiting: 0, running: 0, leaks: 0, isRebootRequired: false, ...changes };
}

export const markedView = viewOf("k8s-master", { isRebootRequired: true, rebootRequiredSinceMs: markedMs });

/** The daemon's pod and the hand's on each node, with their label. */
export const doorPods: readonly ClusterPod[] = gateNodes.flatMap(({ name }) => [
  readyPod(`levee-${name}`, { node: name, namespace: "levee-system", owner: "DaemonSet/levee", door: "deny" }),
  readyPod(`levee-hand-${name}`, {
    node: name,
    namespace: "levee-system",
    owner: "DaemonSet/levee-hand",
    door: "deny",
  }),
]);

/** A quiet cluster of three nodes in which the master needs a reboot, with the test's changes. */
export function gateWorldOf(facts: Partial<World> = {}, more: Partial<Omit<GateWorld, "world">> = {}): GateWorld {
  return {
    world: world({
      nowMs: gateNowMs,
      nodes: gateNodes,
      pods: doorPods,
      nodeViews: [markedView, viewOf("k8s-node1"), viewOf("k8s-node2")],
      ...facts,
    }),
    settings: defaultGateSettings,
    cniDaemons: defaultGuardSettings.cniDaemons,
    policies,
    exceptions: [],
    overrides: [],
    shutBudgets: [],
    budgetPods: new Map(),
    replicas: [],
    rebootedMs: new Map(),
    turns: new Map(),
    ...more,
  };
}

export function someGateFacts(facts: Partial<World> = {}, more: Partial<Omit<GateWorld, "world">> = {}): GateFacts {
  return gateFactsOf(gateWorldOf(facts, more));
}
