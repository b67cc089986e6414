import { expect, test } from "bun:test";
import { propose } from "../decide/propose.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import { outage } from "../outage.fixture.ts";
import type { Decision } from "./decision.ts";
import { isPlanIntact, parseDecision } from "./parse-decision.ts";

const [, recover] = propose(outage(), defaultGuardSettings);
const stored = {
  apiVersion: "levee.dev/v1alpha1",
  kind: "Decision",
  metadata: { name: recover!.name, namespace: "levee-system", uid: "u" },
  spec: recover!.spec,
  status: { phase: "Proposed", message: "", fence: 1, leader: "a", since: "2026-05-10T19:00:00Z" },
};

/** The API server's answer with one text replaced. */
function changed(from: string, to: string): Decision | undefined {
  return parseDecision(JSON.parse(JSON.stringify(stored).replace(from, to)));
}

test("parseDecision reads back what was proposed, and the plan is intact", () => {
  const decision = changed("", "");
  expect(decision).toEqual(stored as unknown as Decision);
  expect(isPlanIntact(decision!)).toBe(true);
});

test("parseDecision drops a status with an unknown phase", () => {
  expect(changed('"phase":"Proposed"', '"phase":"Odd"')?.status).toBeUndefined();
  expect(parseDecision({ ...stored, status: undefined })?.status).toBeUndefined();
});

for (const [from, to] of [
  ['"OwnerlessPodAvalanche"', '"Other"'],
  ['"purpose":"Recover"', '"purpose":"Wipe"'],
  ['"action":"RemovePods"', '"action":"Exec"'],
  ['"removePods"', '"exec"'],
  ['"uid":"uid-rd-browser-only-0000"', '"uid":""'],
  ['"id":1', '"id":"1"'],
] as const) {
  test(`parseDecision refuses a Decision with ${to} for ${from}`, () => {
    expect(changed(from, to)).toBeUndefined();
  });
}

for (const [from, to] of [
  ["uid-rd-browser-only-0000", "uid-somebody-else"],
  ['"newLimit":"1Gi"', '"newLimit":"64Gi"'],
  ['"id":1', '"id":1.5'],
] as const) {
  test(`isPlanIntact notices ${to} for ${from}`, () => {
    expect(isPlanIntact(changed(from, to)!)).toBe(false);
  });
}
