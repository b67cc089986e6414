import { expect, test } from "bun:test";
import { heldGate, reason, lateReboots, reservedNames } from "../../by-hand.fixture.ts";
import { propose } from "../../decide/propose.ts";
import type { Decision } from "../../decision/decision.ts";
import type { AskPersonStep } from "../../decision/step.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { noOwners, ownedPods, runawayJob } from "../../runaway.fixture.ts";
import type { StepContext } from "../step-runner.ts";
import { askPersonRunner as runner } from "./ask-person.ts";

interface Asked {
  readonly step: AskPersonStep;
  check(now: World): Promise<string | undefined>;
  perform(now: World): ReturnType<typeof runner.perform>;
}

/** The proposal about this world, as it is carried out. A runner that asks may use nothing else. */
function ask(seen: World): Asked {
  const [proposal] = propose(seen, settings);
  const { name, spec } = proposal!;
  const metadata = { name, namespace: "levee-system" };
  const decision: Decision = { apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata, spec };
  const [step] = spec.steps;
  if (step?.action !== "AskPerson") throw new Error("it asks nobody");
  const context = (now: World): StepContext => ({ decision, world: () => now }) as unknown as StepContext; // all it reads
  return {
    step,
    check: (now) => runner.check(step, context(now)),
    perform: (now) => runner.perform(step, context(now)),
  };
}

test("askPersonRunner shows the lines of what is left, and is done when the pods are no longer refused", async () => {
  const asked = ask(reservedNames());
  const { lines } = await asked.perform(reservedNames());
  expect(lines).toHaveLength(24);
  expect(await asked.check(reservedNames())).toContain("24 of 24 are left: Pod/shop/web-6f9c-0000 on rke2-agent1");
  const some = reservedNames({ pods: [...reservedNames().pods].slice(0, 2) });
  expect(await asked.check(some)).toContain("2 of 24 are left");
  expect(await asked.check(reservedNames({ events: [] }))).toBeUndefined();
  expect(await asked.perform(reservedNames({ events: [] }))).toEqual({ message: "Nothing of it is left to do" });
});

test("askPersonRunner waits until no reason of the plan stands, or the node was rebooted or allowed", async () => {
  const asked = ask(lateReboots());
  expect(await asked.check(lateReboots())).toContain("1 of 1 are left: Alert/NodeFilesystemFull on k8s-master");
  const other = reason({ code: "ControlPlaneQuorum", object: "Node/x" });
  expect(await asked.check(lateReboots([heldGate("k8s-master", { reasons: [other] })]))).toBeUndefined();
  expect(await asked.check(lateReboots([heldGate("k8s-master", { verdict: "Allow" })]))).toBeUndefined();
  expect(await asked.check(lateReboots([]))).toBeUndefined();
});

test("askPersonRunner takes nothing for done that it cannot see", async () => {
  const asked = ask(lateReboots());
  expect(await asked.check({ ...lateReboots(), rebootGates: undefined })).toContain("1 of 1 are left");
  const unheard = [reason({ code: "NodeUnheard", object: "Node/k8s-master" })];
  const unknown = heldGate("k8s-master", { verdict: "Unknown", reasons: unheard });
  expect(await asked.check(lateReboots([unknown]))).toContain("1 of 1 are left");
  const long = ask(
    lateReboots([heldGate("k8s-master", { reasons: [reason({ object: `Alert/${"a".repeat(600)}` })] })]),
  );
  const still = heldGate("k8s-master", { reasons: [reason({ object: `Alert/${"a".repeat(600)}` })] });
  expect(await long.check(lateReboots([still]))).toContain("1 of 1 are left");
  const { owners: _owners, ...unread } = runawayJob();
  expect(await ask(runawayJob({ owners: noOwners })).check({ ...unread, pods: [] })).toContain("1 of 1 are left");
});

test("askPersonRunner waits until a workload that a person has to change is smaller", async () => {
  const facts = runawayJob({ owners: noOwners });
  const asked = ask(facts);
  expect(await asked.check(facts)).toContain("1 of 1 are left: Job/shop/nightly");
  expect(await asked.check({ ...facts, pods: ownedPods("Job/nightly", 9) })).toBeUndefined();
});
