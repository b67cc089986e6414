import { expect, test } from "bun:test";
import { propose } from "../decide/propose.ts";
import type { Decision } from "../decision/decision.ts";
import { stepActions, type Step } from "../decision/step.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import { outage } from "../outage.fixture.ts";
import { nowMs } from "../world.fixture.ts";
import { takeoverProblem } from "./takeover-problem.ts";

const { name, spec } = propose(outage(), defaultGuardSettings)[1]!;

/** A Decision whose first step is under way and has another action. */
function underWay(action: string): Decision {
  const [first] = spec.steps;
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name, namespace: "levee-system" },
    spec: { ...spec, steps: [{ ...first, action } as Step] },
    status: {
      ...{ phase: "Running", message: "", fence: 1, leader: "guard-a", since: "" },
      steps: [{ id: first!.id, phase: "Running", message: "", at: "" }],
    },
  };
}

test.each([...stepActions])("takeoverProblem lets the next leader go on with %s", (action) => {
  expect(takeoverProblem(underWay(action), nowMs - 20_000, nowMs)).toBeUndefined();
});

test("takeoverProblem leaves a step to a person that nobody has listed as safe to repeat", () => {
  expect(takeoverProblem(underWay("RebootNode"), nowMs - 20_000, nowMs)).toBe(
    "its step 1, RebootNode, is not safe to repeat",
  );
});
