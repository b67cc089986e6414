import { standingVerdict } from "../../wire/standing-verdict.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { GatesBefore } from "./gate-verdicts.ts";

/**
 * 4 requests a second, however many nodes wait. With 5,000 of them a Deny may be twenty minutes old, which changes
 * nothing: it is Deny all the same when it has expired.
 */
export const writesPerLookMax = 40;

export type GateWrite =
  | { readonly kind: "create" | "change"; readonly gate: RebootGate }
  | { readonly kind: "remove"; readonly gate: RebootGate };

/**
 * What must be written so that these gates stand: those that changed, those of which half the time is over, and those
 * that are no longer wanted. What closes goes first, then what opens and what must stay open.
 */
export function gateWrites(wanted: readonly RebootGate[], before: GatesBefore, nowMs: number): readonly GateWrite[] {
  const names = new Set(wanted.map(({ node }) => node));
  const writes: { readonly write: GateWrite; readonly urgency: number; readonly ageMs: number }[] = [];
  for (const gate of wanted) {
    const there = before.get(gate.node);
    if (there !== undefined && !isDue(gate, there, nowMs)) continue;
    const write: GateWrite = { kind: there === undefined ? "create" : "change", gate };
    writes.push({ write, urgency: urgencyOf(gate, there, nowMs), ageMs: nowMs - (there?.observedAtMs ?? 0) });
  }
  for (const gate of before.values())
    if (!names.has(gate.node)) {
      const urgency = gate.verdict === "Allow" ? urgencies.closes : urgencies.removes;
      writes.push({ write: { kind: "remove", gate }, urgency, ageMs: nowMs - gate.observedAtMs });
    }
  return writes
    .toSorted((left, right) => left.urgency - right.urgency || right.ageMs - left.ageMs)
    .slice(0, writesPerLookMax)
    .map(({ write }) => write);
}

const urgencies = { closes: 0, opens: 1, staysOpen: 2, removes: 3, denies: 4, renews: 5 } as const;

function urgencyOf(gate: RebootGate, there: RebootGate | undefined, nowMs: number): number {
  const isOpen = standingVerdict(gate.node, there, nowMs).isAllowed;
  if (gate.verdict === "Allow") return isOpen ? urgencies.staysOpen : urgencies.opens;
  if (isOpen) return urgencies.closes;
  return there === undefined || contentOf(there) !== contentOf(gate) ? urgencies.denies : urgencies.renews;
}

function isDue(gate: RebootGate, there: RebootGate, nowMs: number): boolean {
  const lifeMs = there.expiresAtMs - there.observedAtMs;
  // A gate from the future is written again, or nobody would believe it for as long as the clocks differ.
  const isOld = nowMs - there.observedAtMs >= lifeMs / 2 || there.observedAtMs > nowMs + lifeMs;
  return isOld || contentOf(gate) !== contentOf(there);
}

/** Without the sentences: their numbers change with every look, and no reader decides by them. */
function contentOf({ verdict, reasons, exceptions, override, rebootRequiredSinceMs }: RebootGate): string {
  return JSON.stringify([
    verdict,
    reasons.map(({ code, object }) => [code, object]),
    exceptions.map(({ name }) => name),
    override?.name,
    rebootRequiredSinceMs === undefined ? 0 : Math.floor(rebootRequiredSinceMs / 1_000),
  ]);
}
