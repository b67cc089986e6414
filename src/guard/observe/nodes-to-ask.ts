import type { Decision } from "../decision/decision.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import type { NodeToAsk } from "./node-view-source.ts";

/** Nodes where a CNI daemon runs, each with its address: the daemons use their host's network. */
export function nodesToAsk(
  { pods, nodes }: Pick<World, "pods" | "nodes">,
  { cniDaemons }: GuardSettings,
): readonly NodeToAsk[] {
  const owners = new Set(cniDaemons.map(({ namespace, daemonSet }) => `${namespace}/DaemonSet/${daemonSet}`));
  const withDaemon = new Set<string>();
  for (const pod of pods)
    if (pod.phase === "Running" && owners.has(`${pod.namespace}/${pod.owner}`)) withDaemon.add(pod.node);
  return nodes.flatMap(({ name, address }) =>
    withDaemon.has(name) && address !== "" ? [{ node: name, address }] : [],
  );
}

/** The nodes of pods that an approved Decision removes. */
export function nodesUnderRemoval(decisions: readonly Decision[]): ReadonlySet<string> {
  const running = decisions.filter(({ status }) => status?.phase === "Approved" || status?.phase === "Running");
  return new Set(
    running.flatMap(({ spec }) =>
      spec.steps.flatMap((step) => (step.action === "RemovePods" ? step.targets.map(({ node }) => node) : [])),
    ),
  );
}
