import type { GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";

/**
 * Without this node too few control-plane nodes or members of etcd would be left to agree. A single one is no quorum that
 * could be kept: its reboot takes the control plane away for minutes, and whoever runs one knows that.
 */
export function controlPlaneQuorum(node: NodeFacts, facts: GateFacts): readonly GateReason[] {
  const { nodes, etcdMembers } = facts;
  const planes = new Map<string, boolean>();
  for (const { name, isReady, isControlPlane } of nodes.values())
    if (isControlPlane === true) planes.set(name, isReady);
  const members = new Map(
    [...etcdMembers].map(([name, isReady]) => [name, isReady && nodes.get(name)?.isReady === true]),
  );
  return [
    ...lost(node, planes, facts, { object: "ControlPlane", what: "control-plane nodes" }),
    ...lost(node, members, facts, { object: "Etcd", what: "members of etcd" }),
  ];
}

function lost(
  { name }: NodeFacts,
  parts: ReadonlyMap<string, boolean>,
  { nowMs }: GateFacts,
  { object, what }: { readonly object: string; readonly what: string },
): readonly GateReason[] {
  if (!parts.has(name) || parts.size === 1) return [];
  const needed = Math.floor(parts.size / 2) + 1;
  const left = [...parts].filter(([other, isReady]) => other !== name && isReady).length;
  if (left >= needed) return [];
  const absent = [...parts].filter(([other, isReady]) => other !== name && !isReady).map(([other]) => other);
  return [
    {
      code: "ControlPlaneQuorum",
      message: `without node ${name} only ${left} of ${parts.size} ${what} are Ready, and ${needed} are needed${absent.length === 0 ? "" : ` (not Ready: ${absent.join(", ")})`}`,
      sinceMs: nowMs,
      object,
      remedy:
        absent.length === 0
          ? `${parts.size} can spare none: add one, or reboot by hand with levee gate allow ${name}`
          : `bring ${absent.join(", ")} back first`,
    },
  ];
}
