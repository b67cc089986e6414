import type { GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";

/** Daemons are asked once a minute; two missed answers are too many to say anything about the node. */
export const heardMsMax = 150_000;

/** The node's own daemon did not say lately whether the node needs a reboot and how it is. */
export function nodeUnheard({ name }: NodeFacts, { nodeViews, nowMs }: GateFacts): readonly GateReason[] {
  const view = nodeViews.get(name);
  const isHeard = view !== undefined && nowMs - view.atMs <= heardMsMax;
  if (isHeard && view.isRebootRequired !== undefined) return [];
  return [
    {
      code: "NodeUnheard",
      message: isHeard
        ? `the daemon of node ${name} cannot tell yet whether the node needs a reboot`
        : `the daemon of node ${name} does not answer the guard`,
      sinceMs: view?.atMs ?? nowMs,
      object: `Node/${name}`,
      remedy: isHeard
        ? "see whether the node's resident hand runs: kubectl -n levee-system get pods -o wide -l app.kubernetes.io/component=hand"
        : "see whether the daemon runs there, and whether the guard reaches its port (--daemon-port)",
    },
  ];
}
