import type { RebootGate } from "../../wire/reboot-gate.ts";

/** An Allow of the guard at this time, for two minutes. */
export function allowAt(observedAtMs: number, changes: Partial<RebootGate> = {}): RebootGate {
  return {
    node: "n1",
    verdict: "Allow",
    reasons: [],
    observedAtMs,
    expiresAtMs: observedAtMs + 120_000,
    exceptions: [],
    ...changes,
  };
}
