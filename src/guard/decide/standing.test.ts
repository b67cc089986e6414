import { expect, test } from "bun:test";
import type { Decision, DecisionStatus } from "../decision/decision.ts";
import { findAvalanches } from "../detect/avalanche.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { multus, outage } from "../outage.fixture.ts";
import { nowMs } from "../world.fixture.ts";
import { propose } from "./propose.ts";
import { standingOf, type Standing } from "./standing.ts";

const [avalanche] = findAvalanches(outage().pods, nowMs);
const proposals = propose(outage(), defaultGuardSettings);

function standing(status: Partial<DecisionStatus>, facts: Partial<World> = {}): Standing {
  const decisions = proposals.map(({ name, spec }): Decision => ({
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name, namespace: "levee-system", uid: name, creationTimestamp: "2026-05-10T19:00:00Z" },
    spec,
    status: { phase: "Proposed", message: "", fence: 1, leader: "a", since: "2026-05-10T19:00:00Z", ...status },
  }));
  return standingOf(avalanche!, outage({ decisions, ...facts }));
}

test("standingOf counts a rejection, unless it only stopped a running Decision", () => {
  expect(standing({ phase: "Rejected" }).coveredUids.size).toBe(219);
  const stopped = standing({ phase: "Rejected", startedAt: "2026-05-10T19:00:00Z" });
  expect([stopped.coveredUids.size, stopped.memoryAsked.size]).toEqual([0, 0]);
  // A rejected stop is not proposed again.
  expect(stopped.isStopAsked).toBe(true);
});

test("standingOf leaves the question open after a Decision without an answer", () => {
  for (const phase of ["Expired", "Failed", "Superseded"] as const)
    expect(standing({ phase })).toMatchObject({ isStopAsked: false, coveredUids: new Set() });
});

test("standingOf asks again about a limit that was raised and then lowered, and not while it stands", () => {
  const limited = (memoryLimit: string): Partial<World> => ({
    daemonSets: [{ ...multus, containers: [{ name: "kube-multus", memoryLimit, memoryRequest: "50Mi" }] }],
  });
  const asked = (phase: DecisionStatus["phase"], memoryLimit: string): number =>
    standing({ phase, startedAt: "2026-05-10T19:00:00Z" }, limited(memoryLimit)).memoryAsked.size;
  for (const memoryLimit of ["1Gi", "1024Mi", "2Gi", ""]) expect(asked("Succeeded", memoryLimit)).toBe(1);
  for (const memoryLimit of ["50Mi", "1023Mi"]) expect(asked("Succeeded", memoryLimit)).toBe(0);
  // One that is under way has not raised it yet.
  expect(asked("Running", "50Mi")).toBe(1);
});
