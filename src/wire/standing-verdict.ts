import type { GateReason } from "./gate-codes.ts";
import type { RebootGate } from "./reboot-gate.ts";

/** What a gate says to a reader now. */
export interface StandingVerdict {
  readonly isAllowed: boolean;
  /** Why not; empty when it is allowed. */
  readonly reasons: readonly GateReason[];
}

/** Clocks of one cluster differ by seconds. A gate from further ahead would stay open for longer than anybody looked. */
const gateAheadMaxMs = 60_000;
/** The longest expiry that can be set. Whatever a writer claims, no gate stands for longer. */
export const gateExpiryMaxMs = 600_000;

/**
 * Whether the node may be rebooted, by the clock of whoever asks. Every door asks this and nothing else: absent, expired,
 * from the future or Unknown is Deny.
 */
export function standingVerdict(node: string, gate: RebootGate | undefined, nowMs: number): StandingVerdict {
  const object = `RebootGate/${node}`;
  if (gate === undefined || gate.node !== node)
    return denied({
      code: "GateAbsent",
      message: `there is no gate for ${node}: it has no mark that asks for a reboot, or nobody has looked`,
      sinceMs: nowMs,
      object,
      remedy: "the guard makes a gate within a minute of the node's mark; if it does not, see whether the guard runs",
    });
  const { observedAtMs, expiresAtMs } = gate;
  const endMs = Math.min(expiresAtMs, observedAtMs + gateExpiryMaxMs);
  if (observedAtMs - nowMs > gateAheadMaxMs)
    return denied({
      code: "GateAhead",
      message: `the verdict is from ${seconds(observedAtMs - nowMs)} ahead of this clock`,
      sinceMs: nowMs,
      object,
      remedy: "compare the clocks of this node and of the node where the guard runs",
    });
  if (endMs <= nowMs)
    return denied({
      code: "GateStale",
      message: `the verdict expired ${seconds(nowMs - endMs)} ago`,
      sinceMs: endMs,
      object,
      remedy: "see whether the guard runs and leads, and whether it reaches the API server",
    });
  return gate.verdict === "Allow" ? { isAllowed: true, reasons: [] } : { isAllowed: false, reasons: gate.reasons };
}

function denied(reason: GateReason): StandingVerdict {
  return { isAllowed: false, reasons: [reason] };
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}
