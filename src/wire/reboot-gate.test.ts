import { expect, test } from "bun:test";
import { gateSummary, parseRebootGate, rebootGateObject, type RebootGate } from "./reboot-gate.ts";

const atMs = Date.parse("2026-05-30T03:40:00Z");
const word = { name: "w", by: "alice", reason: "the NAS is full", untilMs: atMs + 3_600_000 };
const reason = { code: "FiringAlert", message: "m", sinceMs: atMs, object: "Alert/a", remedy: "r" } as const;

const full: RebootGate = {
  node: "k8s-master",
  verdict: "Deny",
  reasons: [reason, { ...reason, object: "Alert/b" }, { ...reason, code: "KuredLockHeld" }],
  rebootRequiredSinceMs: atMs - 420_000,
  observedAtMs: atMs,
  expiresAtMs: atMs + 120_000,
  allowedSinceMs: atMs,
  exceptions: [word],
  override: word,
};

test("parseRebootGate reads what rebootGateObject wrote", () => {
  const leader = { identity: "guard-a", fence: 3 };
  expect(parseRebootGate(JSON.parse(JSON.stringify(rebootGateObject(full, leader))))).toEqual(full);
  const { override: _, allowedSinceMs: __, rebootRequiredSinceMs: ___, ...bare } = full;
  expect(parseRebootGate(JSON.parse(JSON.stringify(rebootGateObject(bare, leader))))).toEqual(bare);
});

test("parseRebootGate takes nothing for a gate that has no name, verdict or readable times", () => {
  const object = rebootGateObject(full, { identity: "guard-a", fence: 3 }) as { metadata: object; status: object };
  for (const broken of [
    undefined,
    "gate",
    { ...object, metadata: {} },
    { ...object, status: null },
    { ...object, status: { ...object.status, verdict: "allow" } },
    { ...object, status: { ...object.status, expiresAt: "soon" } },
    { ...object, status: { ...object.status, observedAt: 0 } },
  ])
    expect(parseRebootGate(broken)).toBeUndefined();
});

test("gateSummary counts reasons by code, and names the person behind an override", () => {
  const { override: _, ...denied } = full;
  expect(gateSummary(denied)).toBe("FiringAlert ×2, KuredLockHeld; 1 exception");
  expect(gateSummary(full)).toBe("allowed by alice in spite of FiringAlert ×2, KuredLockHeld; 1 exception");
  expect(gateSummary({ reasons: [], override: word, exceptions: [] })).toBe("allowed by alice");
  expect(gateSummary({ reasons: [], exceptions: [word, word] })).toBe("2 exceptions");
});
