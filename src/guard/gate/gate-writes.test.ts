import { expect, test } from "bun:test";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import { gateWrites, writesPerLookMax } from "./gate-writes.ts";

const nowMs = Date.parse("2026-05-30T03:40:00Z");
const reason = { code: "FiringAlert", message: "m", sinceMs: 1, object: "Alert/a", remedy: "r" } as const;

function gate(node: string, changes: Partial<RebootGate> = {}, madeMs = nowMs): RebootGate {
  const times = { observedAtMs: madeMs, expiresAtMs: madeMs + 120_000 };
  return { node, verdict: "Deny", reasons: [reason], exceptions: [], ...times, ...changes };
}

function open(node: string, madeMs = nowMs): RebootGate {
  return gate(node, { verdict: "Allow", reasons: [] }, madeMs);
}

function plan(wanted: readonly RebootGate[], before: readonly RebootGate[]): readonly string[] {
  const known = new Map(before.map((one) => [one.node, one]));
  return gateWrites(wanted, known, nowMs).map(({ kind, gate: { node } }) => `${kind} ${node}`);
}

test("gateWrites writes what is new, what changed and what is half over, and nothing else", () => {
  expect(plan([gate("a")], [])).toEqual(["create a"]);
  expect(plan([gate("a")], [gate("a", {}, nowMs - 59_999)])).toEqual([]);
  expect(plan([gate("a")], [gate("a", {}, nowMs - 60_000)])).toEqual(["change a"]);
  expect(plan([gate("a", { reasons: [{ ...reason, message: "other words" }] })], [gate("a")])).toEqual([]);
  expect(plan([gate("a", { reasons: [{ ...reason, object: "Alert/b" }] })], [gate("a")])).toEqual(["change a"]);
  expect(plan([], [gate("a")])).toEqual(["remove a"]);
});

test("gateWrites repairs a gate from the future", () => {
  expect(plan([gate("a")], [gate("a", {}, nowMs + 3_600_000)])).toEqual(["change a"]);
});

test("gateWrites closes first, then opens, then keeps open, then tells of the rest", () => {
  const old = nowMs - 100_000;
  const before = [open("closes"), open("stays", old), open("gone"), gate("old", {}, old), gate("ends")];
  const wanted = [gate("old"), gate("new"), open("stays"), open("opens"), gate("closes")];
  expect(plan(wanted, before)).toEqual([
    "change closes",
    "remove gone",
    "create opens",
    "change stays",
    "remove ends",
    "create new",
    "change old",
  ]);
});

test("gateWrites writes forty at most, so that 5,000 waiting nodes do not flood the API server", () => {
  const many = Array.from({ length: 5_000 }, (_, index) => gate(`n${index}`));
  const writes = plan(
    [...many, open("one")],
    many.map(({ node }) => gate(node, {}, nowMs - 90_000)),
  );
  expect(writes.length).toBe(writesPerLookMax);
  expect(writes[0]).toBe("create one");
});
