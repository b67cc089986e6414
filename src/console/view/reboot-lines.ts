import type { RebootLine, RebootWord } from "../../wire/console-view.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import { standingVerdict } from "../../wire/standing-verdict.ts";

/** Nodes that wait for a reboot, by their own mark or by their gate; the longest waiting first. */
export function rebootLines(
  gates: ReadonlyMap<string, RebootGate>,
  marks: ReadonlyMap<string, number>,
  nowMs: number,
): readonly RebootLine[] {
  const due = new Map(marks);
  for (const { node, rebootRequiredSinceMs } of gates.values())
    if (rebootRequiredSinceMs !== undefined && !due.has(node)) due.set(node, rebootRequiredSinceMs);
  return [...due]
    .map(([node, sinceMs]) => rebootLine(node, sinceMs, { gate: gates.get(node), nowMs }))
    .toSorted((left, right) => left.sinceMs - right.sinceMs || (left.node < right.node ? -1 : 1));
}

function rebootLine(
  node: string,
  sinceMs: number,
  { gate, nowMs }: { readonly gate: RebootGate | undefined; readonly nowMs: number },
): RebootLine {
  if (gate === undefined) return { node, sinceMs, reasons: [] };
  const { isAllowed, reasons } = standingVerdict(node, gate, nowMs);
  const { override, exceptions } = gate;
  return {
    node,
    sinceMs,
    verdict: isAllowed ? "Allow" : "Deny",
    observedMs: gate.observedAtMs,
    // Behind an override the reasons are still there.
    reasons: isAllowed ? gate.reasons : reasons,
    ...(override === undefined ? {} : { override: wordOf(override) }),
    ...(exceptions.length === 0 ? {} : { exceptions: exceptions.map(wordOf) }),
  };
}

function wordOf({ by, reason, untilMs }: RebootWord): RebootWord {
  return { by, reason, untilMs };
}
