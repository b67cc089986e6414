import { expect, test } from "bun:test";
import type { RebootGate } from "./reboot-gate.ts";
import { standingVerdict } from "./standing-verdict.ts";

const nowMs = Date.parse("2026-05-30T03:40:00Z");

function gate(changes: Partial<RebootGate> = {}): RebootGate {
  const times = { observedAtMs: nowMs - 10_000, expiresAtMs: nowMs + 110_000 };
  return { node: "n1", verdict: "Allow", reasons: [], exceptions: [], ...times, ...changes };
}

function codeOf(given: RebootGate | undefined, atMs = nowMs): string {
  const { isAllowed, reasons } = standingVerdict("n1", given, atMs);
  expect(isAllowed).toBe(reasons.length === 0);
  return isAllowed ? "Allow" : (reasons[0]?.code ?? "");
}

test("standingVerdict allows by a current Allow only", () => {
  expect(codeOf(gate())).toBe("Allow");
  expect(codeOf(undefined)).toBe("GateAbsent");
  expect(codeOf(gate({ node: "n2" }))).toBe("GateAbsent");
  const reason = { code: "FiringAlert", message: "m", sinceMs: nowMs, object: "Alert/x", remedy: "r" } as const;
  expect(codeOf(gate({ verdict: "Deny", reasons: [reason] }))).toBe("FiringAlert");
  expect(standingVerdict("n1", gate({ verdict: "Unknown" }), nowMs).isAllowed).toBe(false);
});

test("standingVerdict closes at the very millisecond of the expiry, by the reader's clock", () => {
  const open = gate();
  expect(codeOf(open, open.expiresAtMs - 1)).toBe("Allow");
  expect(codeOf(open, open.expiresAtMs)).toBe("GateStale");
  expect(standingVerdict("n1", open, open.expiresAtMs + 5_000).reasons[0]?.message).toBe("the verdict expired 5 s ago");
});

test("standingVerdict believes no verdict from further ahead than clocks differ, nor one that lasts for hours", () => {
  expect(codeOf(gate({ observedAtMs: nowMs + 60_000, expiresAtMs: nowMs + 180_000 }))).toBe("Allow");
  expect(codeOf(gate({ observedAtMs: nowMs + 60_001, expiresAtMs: nowMs + 180_001 }))).toBe("GateAhead");
  const forHours = gate({ expiresAtMs: nowMs + 86_400_000 });
  expect(codeOf(forHours, forHours.observedAtMs + 599_999)).toBe("Allow");
  expect(codeOf(forHours, forHours.observedAtMs + 600_000)).toBe("GateStale");
});
