import { gateSummary, type GateOverride, type RebootGate } from "../../wire/reboot-gate.ts";
import { standingVerdict } from "../../wire/standing-verdict.ts";

/** The answer to `GET /gate/NODE`: 200 to reboot, 409 not to. Every replica answers, from its copy and by its own clock. */
export function gateAnswer(
  node: string,
  gate: RebootGate | undefined,
  nowMs: number,
): { readonly status: number; readonly body: string } {
  const { isAllowed, reasons } = standingVerdict(node, gate, nowMs);
  const body = {
    node,
    verdict: isAllowed ? "Allow" : "Deny",
    summary: isAllowed && gate !== undefined ? gateSummary(gate) : reasons.map(({ code }) => code).join(", "),
    reasons: reasons.map(({ sinceMs, ...reason }) => ({ ...reason, since: new Date(sinceMs).toISOString() })),
    exceptions: (gate?.exceptions ?? []).map(wordOf),
    ...(gate?.override === undefined ? {} : { override: wordOf(gate.override) }),
    ...(gate === undefined ? {} : { expiresAt: new Date(gate.expiresAtMs).toISOString() }),
  };
  return { status: isAllowed ? 200 : 409, body: `${JSON.stringify(body)}\n` };
}

function wordOf({ untilMs, ...word }: GateOverride): object {
  return { ...word, until: new Date(untilMs).toISOString() };
}
