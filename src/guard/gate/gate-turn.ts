import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { GateFacts } from "./gate-facts.ts";

/** kured looks once an hour by default, at most an hour and a half after its start. Then another node's turn comes. */
export const turnMs = 2 * 3_600_000;

type Judged = Pick<RebootGate, "node" | "verdict" | "reasons" | "override" | "rebootRequiredSinceMs">;

/**
 * Lets as many nodes through at the same time as the setting says, and the others wait for their turn: whoever reboots
 * may have no lock of its own. A turn lasts until the node has been rebooted, or two hours; then those that waited longer
 * go first. A person's override takes no turn and waits for none.
 */
export function inTurn<T extends Judged>(gates: readonly T[], { settings, turns, nowMs }: GateFacts): readonly T[] {
  const ready = gates.filter(({ verdict, override }) => verdict === "Allow" && override === undefined);
  if (ready.length <= settings.atOnce) return gates;
  const order = ready.toSorted(
    (left, right) =>
      placeOf(left, turns, nowMs) - placeOf(right, turns, nowMs) ||
      (left.rebootRequiredSinceMs ?? nowMs) - (right.rebootRequiredSinceMs ?? nowMs) ||
      (left.node < right.node ? -1 : 1),
  );
  const first = order.slice(0, settings.atOnce).map(({ node }) => node);
  const wait = new Set(order.slice(settings.atOnce).map(({ node }) => node));
  return gates.map((gate) => (wait.has(gate.node) ? waiting(gate, first, nowMs) : gate));
}

/** Whose turn it is goes first, then those without a turn so far, then those whose turn is over, the longest first. */
function placeOf({ node }: Judged, turns: ReadonlyMap<string, number>, nowMs: number): number {
  const begunMs = turns.get(node);
  if (begunMs === undefined) return 1;
  return nowMs - begunMs < turnMs ? 0 : begunMs;
}

function waiting<T extends Judged>(gate: T, first: readonly string[], nowMs: number): T {
  return {
    ...gate,
    verdict: "Deny",
    reasons: [
      {
        code: "WaitsForTurn",
        message: `it is the turn of ${first.join(", ")}`,
        sinceMs: nowMs,
        object: `Node/${first[0] ?? ""}`,
        remedy: "wait; a turn ends with the reboot or after two hours. --gate-at-once lets more nodes through",
      },
    ],
  };
}
