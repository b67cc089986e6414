import { expect, test } from "bun:test";
import { propose } from "../decide/propose.ts";
import { standingOf } from "../decide/standing.ts";
import type { Decision, DecisionPhase } from "../decision/decision.ts";
import { findAvalanches } from "../detect/avalanche.ts";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import { outage } from "../outage.fixture.ts";
import { nowMs } from "../world.fixture.ts";
import { compactDecision } from "./compact-decision.ts";

function recovery(phase: DecisionPhase): Decision {
  const { name, spec } = propose(outage(), settings)[1]!;
  const at = new Date(nowMs).toISOString();
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name, namespace: "levee-system", uid: "u", creationTimestamp: at },
    spec,
    status: { phase, message: "", fence: 1, leader: "a", since: at },
  };
}

test("compactDecision keeps an open Decision unchanged", () => {
  for (const phase of ["Proposed", "Approved", "Running", "Paused"] as const) {
    const decision = recovery(phase);
    expect(compactDecision(decision)).toBe(decision);
  }
});

test("compactDecision keeps of an ended Decision only what later proposals need", () => {
  for (const phase of ["Succeeded", "Rejected", "Expired", "Failed", "Superseded"] as const) {
    const decision = recovery(phase);
    const compact = compactDecision(decision);
    const [avalanche] = findAvalanches(outage().pods, nowMs);
    const standing = (known: Decision): unknown => standingOf(avalanche!, outage({ decisions: [known] }));
    expect(standing(compact)).toEqual(standing(decision));
    expect(JSON.stringify(compact).length).toBeLessThan(JSON.stringify(decision).length * 0.6);
  }
});
