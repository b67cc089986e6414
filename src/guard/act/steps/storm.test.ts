import { expect, test } from "bun:test";
import type { Step } from "../../decision/step.ts";
import type { World } from "../../facts/world.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import { multus, outage } from "../../outage.fixture.ts";
import { nowMs, outagePods } from "../../world.fixture.ts";
import { GuardedServer } from "../guarded.fixture.ts";
import { stormProblem } from "./storm.ts";

const actions = [
  "HoldArgoApp",
  "RemovePods",
  "SetMemoryLimit",
  "LockToGit",
  "ListStuck",
  "RestartWorkload",
  "Verify",
] as const;
const { decision } = new GuardedServer(actions);

function refused(world: World): readonly Step["action"][] {
  return decision.spec.steps
    .filter((step) => stormProblem(step, decision, world, settings) !== undefined)
    .map(({ action }) => action);
}

/** One pod of the shape was created half a minute ago. */
const late = [...outagePods(30), ...outagePods(1, { uid: "late", createdMs: nowMs - 30_000 })];

test("stormProblem lets the recovery go on when most daemons are down, because it ends the storm, but restarts nothing", () => {
  expect(refused(outage())).toEqual(["RestartWorkload"]);
});

test("stormProblem refuses removals that only make room for new pods, while too many daemons are down", () => {
  expect(refused(outage({ pods: late }))).toEqual(["RemovePods", "RestartWorkload"]);
  expect(refused(outage({ pods: late, daemonSets: [{ ...multus, ready: 2 }] }))).toEqual([]);
  expect(refused(outage({ pods: late, daemonSets: [{ ...multus, name: "other" }] }))).toEqual([]);
  expect(refused(outage({ pods: late, daemonSets: [{ ...multus, desired: 0, ready: 0 }] }))).toEqual([]);
});
