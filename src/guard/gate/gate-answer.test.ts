import { expect, test } from "bun:test";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import { gateAnswer } from "./gate-answer.ts";

const word = { name: "x-1", by: "alice", reason: "the offsite mount", untilMs: 3_600_000 };
const gate: RebootGate = {
  node: "n1",
  verdict: "Deny",
  reasons: [{ code: "FiringAlert", message: "m", sinceMs: 1_000, object: "Alert/x", remedy: "r" }],
  ...{ rebootRequiredSinceMs: 500, observedAtMs: 1_000, expiresAtMs: 121_000, exceptions: [word] },
};

function answer(given: RebootGate | undefined, nowMs = 2_000): { readonly status: number; readonly body: unknown } {
  const { status, body } = gateAnswer("n1", given, nowMs);
  return { status, body: JSON.parse(body) };
}

test("gateAnswer is 409 with every reason and every exception, who made it and until when", () => {
  expect(answer(gate)).toMatchObject({
    status: 409,
    body: {
      ...{ node: "n1", verdict: "Deny", summary: "FiringAlert", expiresAt: "1970-01-01T00:02:01.000Z" },
      reasons: [{ code: "FiringAlert", remedy: "r", since: "1970-01-01T00:00:01.000Z" }],
      exceptions: [{ name: "x-1", by: "alice", reason: "the offsite mount", until: "1970-01-01T01:00:00.000Z" }],
    },
  });
});

test("gateAnswer is 200 for an Allow that stands, and names the person behind it", () => {
  const allowed = answer({ ...gate, verdict: "Allow", override: word });
  expect(allowed).toMatchObject({ status: 200, body: { verdict: "Allow", override: { by: "alice" } } });
});

test.each([
  ["no gate", undefined, 2_000, "GateAbsent"],
  ["one that has expired", { ...gate, verdict: "Allow" as const, reasons: [] }, 121_001, "GateStale"],
  ["Unknown", { ...gate, verdict: "Unknown" as const }, 2_000, "FiringAlert"],
])("gateAnswer is 409 for %s", (_what, given, nowMs, code) => {
  expect(answer(given, nowMs)).toMatchObject({ status: 409, body: { verdict: "Deny", summary: code } });
});
