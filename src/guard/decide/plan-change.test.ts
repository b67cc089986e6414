import { expect, test } from "bun:test";
import type { Decision, DecisionPhase } from "../decision/decision.ts";
import { revisionsMax } from "../decision/limits.ts";
import { isPlanIntact } from "../decision/parse-decision.ts";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { multus, outage } from "../outage.fixture.ts";
import { minuteMs, nowMs, outagePods, world } from "../world.fixture.ts";
import { isCausePresent } from "./cause-present.ts";
import { mayChange } from "./plan-change.ts";
import type { Proposal } from "./causes/make-proposal.ts";
import { propose } from "./propose.ts";
import { supersededBy } from "./standing.ts";

function stored({ name, spec }: Proposal, phase: DecisionPhase = "Proposed", atMs = nowMs): Decision {
  const at = new Date(atMs).toISOString();
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name, namespace: "levee-system", uid: name, creationTimestamp: at },
    spec,
    status: { phase, message: "", fence: 1, leader: "a", since: at },
  };
}

/** `count` pods of the outage; the first `count` of every world are the same ones. */
function grown(count: number, facts: Partial<World> = {}): World {
  return world({ pods: outagePods(100).slice(0, count), nowMs: nowMs + minuteMs, ...facts });
}

const [stop, recover] = propose(grown(20, { nowMs }), settings);
const open = [stored(stop!), stored(recover!)];

function targetsOf(proposal: Proposal | Decision | undefined): number {
  return (proposal?.spec.steps ?? []).reduce(
    (sum, step) => sum + (step.action === "RemovePods" ? step.targets.length : 0),
    0,
  );
}

test("a growing leak stays one recovery: its plan takes up the new pods, and says so", () => {
  const [newer, ...others] = propose(grown(45, { decisions: open }), settings);
  expect(others).toEqual([]);
  expect(newer).toMatchObject({ name: "recover-fc-desktop-1", replaces: open[1]! });
  expect(targetsOf(newer)).toBe(45);
  expect(newer?.spec.planHash).not.toBe(recover!.spec.planHash);
  expect(newer?.spec.revisions).toEqual([
    { at: "2026-05-10T19:01:00Z", planHash: recover!.spec.planHash, change: "25 more pods, 45 in all" },
  ]);
  expect(isPlanIntact({ ...open[1]!, spec: newer!.spec })).toBe(true);
});

test("a plan gains the steps for a daemon that was killed after the proposal", () => {
  const before = propose(outage({ pods: outagePods(219) }), settings).map((proposal) => stored(proposal));
  expect(before[1]?.spec.steps.map(({ action }) => action)).toEqual(["RemovePods", "ListStuck", "Verify"]);
  const [newer] = propose(outage({ decisions: before, nowMs: nowMs + minuteMs }), settings);
  expect(newer?.spec.steps.map(({ action }) => action)).toEqual([
    "HoldArgoApp",
    "RemovePods",
    "SetMemoryLimit",
    "LockToGit",
    "ListStuck",
    "RestartWorkload",
    "Verify",
  ]);
  const { change } = newer!.spec.revisions![0]!;
  expect(change).toMatch(/^new: .*; new: Raise the memory limit of kube-multus .*; new: Write 1Gi /u);
  // And loses them when the limit was raised by hand.
  const raised = [
    { ...multus, containers: [{ name: "kube-multus", memoryLimit: "4Gi", memoryRequest: "50Mi" }] },
  ] as const;
  const held = [stored(newer!, "Proposed", nowMs)];
  const [again] = propose(outage({ decisions: held, daemonSets: raised, nowMs: nowMs + 10 * minuteMs }), settings);
  expect(again?.spec.revisions?.[1]?.change).toContain("no longer: Raise the memory limit of kube-multus");
});

test("noise changes no plan: fewer than twenty pods, other counts of stuck workloads, another client", () => {
  expect(propose(grown(39, { decisions: open }), settings)).toEqual([]);
  const before = propose(outage(), settings).map((proposal) => stored(proposal));
  const pods = [...outage().pods].filter(({ name }) => name !== "traefik-6f9c-abcde" && name !== "nightly-1");
  expect(propose(outage({ decisions: before, pods, nowMs: nowMs + minuteMs }), settings)).toEqual([]);
});

test("a plan stands for a minute, and after each change for a minute more, ten at most", () => {
  expect(propose(grown(45, { decisions: open, nowMs: nowMs + minuteMs - 1 }), settings)).toEqual([]);
  const revision = { at: new Date(nowMs).toISOString(), planHash: recover!.spec.planHash, change: "x" };
  for (const [changes, minutes] of [
    [1, 2],
    [2, 3],
    [revisionsMax, 10],
  ] as const) {
    const revisions = Array.from({ length: changes }, () => revision);
    const one = { ...open[1]!, spec: { ...recover!.spec, revisions } };
    expect(mayChange(one, nowMs + minutes * minuteMs - 1)).toBe(false);
    expect(mayChange(one, nowMs + minutes * minuteMs)).toBe(true);
  }
});

test("a plan keeps its newest changes only", () => {
  const revision = { at: new Date(nowMs).toISOString(), planHash: recover!.spec.planHash, change: "x" };
  const revisions = Array.from({ length: revisionsMax }, () => revision);
  const one = { ...open[1]!, spec: { ...recover!.spec, revisions } };
  const [newer] = propose(grown(60, { decisions: [open[0]!, one], nowMs: nowMs + 10 * minuteMs }), settings);
  expect(newer?.spec.revisions?.length).toBe(revisionsMax);
  expect(newer?.spec.revisions?.at(-1)?.change).toBe("40 more pods, 60 in all");
});

test.each(["Approved", "Running", "Paused"] as const)(
  "after an approval (%s) what is new becomes one more Decision, which follows in its turn",
  (phase) => {
    const approved = [stored(stop!, "Succeeded"), stored(recover!, phase)];
    const [later, ...others] = propose(grown(45, { decisions: approved }), settings);
    expect(others).toEqual([]);
    expect(later?.name).toBe("recover-fc-desktop-2");
    expect(later?.replaces).toBeUndefined();
    expect(targetsOf(later)).toBe(25);
    const both = [...approved, stored(later!)];
    const [newer, ...more] = propose(grown(70, { decisions: both, nowMs: nowMs + 2 * minuteMs }), settings);
    expect(more).toEqual([]);
    expect(newer).toMatchObject({ name: "recover-fc-desktop-2" });
    expect(targetsOf(newer)).toBe(50);
  },
);

test("a stop follows the way that works now, and not the count of pods in its quota", () => {
  const [newer] = propose(grown(20, { decisions: open, isOwnerPolicyInstalled: false }), settings);
  expect(newer).toMatchObject({ name: "stop-fc-desktop-1", spec: { steps: [{ stopSource: { way: "Quota" } }] } });
  const quota = [stored({ ...newer!, name: "stop-fc-desktop-1" }, "Proposed", nowMs - 10 * minuteMs), open[1]!];
  expect(propose(grown(21, { decisions: quota, isOwnerPolicyInstalled: false }), settings)).toEqual([]);
});

test("a proposal lives by the cause and not by the pods it named first; an approved one by its own", () => {
  const pods = outagePods(100).slice(50);
  const later = grown(0, { pods, decisions: open });
  expect(isCausePresent(open[1]!, later, settings)).toBe(true);
  expect(isCausePresent(stored(recover!, "Approved"), later, settings)).toBe(false);
  // Pods of an approved recovery are no cause for a second one.
  const others = stored({ ...recover!, name: "recover-fc-desktop-2" });
  const covered = { ...grown(20), decisions: [stored(recover!, "Running"), others] };
  expect(isCausePresent(others, covered, settings)).toBe(false);
});

test("of several proposals about one cause, as an earlier release made them, the first follows and the others end", () => {
  const several = [1, 2, 10].map((number) => stored({ ...recover!, name: `recover-fc-desktop-${number}` }));
  expect(several.map((one) => supersededBy(one, several))).toEqual([
    undefined,
    "recover-fc-desktop-1",
    "recover-fc-desktop-1",
  ]);
  const begun = several.map((one, index) =>
    index === 0 ? stored({ ...recover!, name: one.metadata.name }, "Running") : one,
  );
  expect(begun.map((one) => supersededBy(one, begun))).toEqual([undefined, undefined, "recover-fc-desktop-2"]);
  const elsewhere = { ...recover!.spec, subject: { ...recover!.spec.subject, shape: "other" } };
  expect(supersededBy(stored({ name: "x", spec: elsewhere }), several)).toBeUndefined();
});
