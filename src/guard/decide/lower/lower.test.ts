import { expect, test } from "bun:test";
import type { Decision, DecisionPhase } from "../../decision/decision.ts";
import { findAvalanches } from "../../detect/avalanche.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { DaemonSetFacts, NodeViewFacts, World } from "../../facts/world.ts";
import { multus, multusFile, outage } from "../../outage.fixture.ts";
import { minuteMs, nowMs, outagePods } from "../../world.fixture.ts";
import { standingOf } from "../standing.ts";
import { parseCalms } from "./calm-text.ts";
import { at, calmWorld, daemons, dayMs, mebibyte, raised, views, Watch } from "./calm.fixture.ts";
import { isStillCalm, proposeLower } from "./propose-lower.ts";

const lowered =
  "Lower the memory limit of kube-multus in DaemonSet kube-system/kube-multus-ds from 1Gi to 256Mi, and its request from 512Mi to 128Mi";

test("proposeLower proposes the way back after a week without pressure, with the sum and the line that goes up again", () => {
  const watch = new Watch().days(7.1);
  const [proposal] = proposeLower(watch.world(), settings);
  expect(proposal).toMatchObject({
    name: "lower-kube-system-1",
    spec: {
      cause: "MemoryNoLongerNeeded",
      purpose: "LowerMemory",
      subject: { namespace: "kube-system", shape: "DaemonSet/kube-multus-ds/kube-multus" },
    },
  });
  expect(proposal?.spec.steps.map(({ action }) => action)).toEqual(["SetMemoryLimit", "Verify"]);
  const [step] = proposal?.spec.steps ?? [];
  expect(step?.title).toBe(lowered);
  expect(step?.kubectl).toEqual([
    "kubectl -n kube-system set resources daemonset/kube-multus-ds -c kube-multus --limits=memory=256Mi --requests=memory=128Mi",
    "kubectl -n kube-system rollout status daemonset/kube-multus-ds",
    "kubectl -n kube-system set resources daemonset/kube-multus-ds -c kube-multus --limits=memory=1Gi --requests=memory=512Mi",
  ]);
  expect(proposal?.spec.notes.join("\n")).toContain(
    `in 7 days, since 2026-05-10T19:00:00Z, is 100Mi (on rke2-agent3): 100Mi × 1.5 = 150Mi, and the next size above, not below the 50Mi from before the raise of ${at}, is 256Mi`,
  );
});

test("proposeLower holds Argo CD and writes the lower value into git, as a raise does", () => {
  const { applications, projects } = outage();
  const text = new TextDecoder().decode(multusFile.bytes).replaceAll(/50Mi/gu, "1Gi");
  const bytes = new TextEncoder().encode(text);
  const now = new Watch().days(7.1).world({ applications, projects, gitFiles: [{ ...multusFile, bytes }] });
  const steps = proposeLower(now, settings)[0]?.spec.steps ?? [];
  expect(steps.map(({ action }) => action)).toEqual(["HoldArgoApp", "SetMemoryLimit", "LockToGit", "Verify"]);
  expect(steps[2]?.title).toStartWith("Write 256Mi and the request 128Mi for kube-multus into apps/multus/multus.yaml");
});

test("proposeLower waits for the whole week", () => {
  expect(new Watch().days(6).proposed()).toEqual([]);
  expect(new Watch().days(6.9).proposed()).toEqual([]);
  const soon = { ...settings, calmForMs: 2 * dayMs };
  expect(proposeLower(new Watch().days(2.1).world(), soon)).toHaveLength(1);
  expect(proposeLower(new Watch().days(30).world(), { ...settings, calmForMs: Number.POSITIVE_INFINITY })).toEqual([]);
});

for (const [what, factsAt] of [
  ["a pod killed for memory", (ms: number) => ({ pods: daemons({ oomKilledMs: ms - minuteMs }) })],
  ["a kill among the daemon's processes", (ms: number) => ({ nodeViews: views(ms, { oomKills: 1 }) })],
  ["a daemon close to its limit", (ms: number) => ({ nodeViews: views(ms, { memoryBytes: 800 * mebibyte }) })],
  [
    "a backlog",
    (ms: number) => ({
      pods: [...daemons(), ...outagePods(20, { boundMs: ms - 10 * minuteMs })],
      nodeViews: views(ms),
    }),
  ],
] as const) {
  test(`nextCalm begins anew after ${what}, and the week counts from there`, () => {
    const watch = new Watch().days(5).look(factsAt(nowMs + 5 * dayMs));
    expect(watch.calm?.broken).not.toBe("");
    // The kill stays in the pod's status, and the counter keeps its value.
    const after = what.includes("processes") ? (ms: number) => ({ nodeViews: views(ms, { oomKills: 1 }) }) : undefined;
    watch.nowMs += 10 * minuteMs;
    expect(watch.days(2.5, after).proposed()).toEqual([]);
    expect(watch.days(5, after).proposed()).toEqual([lowered]);
  });
}

test("nextCalm begins anew after a gap: what nobody saw was not quiet", () => {
  const silent = (): Partial<World> => ({ nodeViews: [] });
  const short = new Watch().days(3).days(20 / 1440, silent);
  expect(short.days(4.2).proposed()).toEqual([lowered]);
  const long = new Watch().days(3).days(1 / 24, silent);
  expect(long.calm?.broken).toStartWith("not every pod has told what it uses since");
  expect(long.days(4.2).proposed()).toEqual([]);
  // One node of three is enough.
  const partly = new Watch().days(3).days(1 / 24, (ms) => ({ nodeViews: views(ms).slice(1) }));
  expect(partly.days(4.2).proposed()).toEqual([]);
  // And so is a guard that was away.
  const away = new Watch().days(3).restart();
  away.nowMs += 40 * minuteMs;
  expect(away.days(4.2).proposed()).toEqual([]);
});

test("nextCalm counts nothing without data, with the old limit, or of another daemon on the node", () => {
  expect(new Watch().days(8, () => ({ nodeViews: [] })).proposed()).toEqual([]);
  const of = (changes: Partial<NodeViewFacts>): string[] =>
    new Watch().days(8, (ms) => ({ nodeViews: views(ms, changes) })).proposed();
  expect(of({ memoryLimitBytes: 50 * mebibyte })).toEqual([]);
  expect(of({ memoryBytes: 0 })).toEqual([]);
  const unknown = (ms: number): Partial<World> => ({
    nodeViews: views(ms).map(({ oomKills: _kills, ...view }) => view),
  });
  expect(new Watch().days(8, unknown).proposed()).toEqual([]);
  expect(new Watch().days(8, () => ({ pods: daemons().slice(1) })).proposed()).toEqual([]);
});

test("nextCalm counts nothing while another CNI daemon has the same limit, because a view names no daemon", () => {
  const levee = (memoryLimit: string): Partial<World> => {
    const containers = [{ name: "daemon", memoryLimit, memoryRequest: "" }];
    return { daemonSets: [raised, { ...multus, namespace: "levee-system", name: "levee", uid: "l1", containers }] };
  };
  expect(new Watch().days(8, () => levee("1024Mi")).proposed()).toEqual([]);
  expect(new Watch().days(8, () => levee("128Mi")).proposed()).toEqual([lowered]);
});

test("nextCalm goes on under another leader and after a restart, which neither begin the week anew nor invent one", () => {
  const watch = new Watch().days(3).restart();
  expect(watch.days(4.1).proposed()).toEqual([lowered]);
  expect(watch.calm?.sinceMs).toBe(nowMs);
  expect(new Watch().restart().days(6).restart().days(0.5).proposed()).toEqual([]);
  // A clock that was ahead has written nonsense.
  const ahead = new Watch().days(8);
  ahead.nowMs = nowMs;
  expect(ahead.restart().look().proposed()).toEqual([]);
  expect(parseCalms("{")).toEqual([]);
  expect(parseCalms('[{"since":"soon"}]')).toEqual([]);
});

test("nextCalm keeps the highest use of the whole time", () => {
  const peak = new Watch().days(1, (ms) => ({ nodeViews: views(ms, { memoryBytes: 200 * mebibyte }) })).days(6.2);
  expect(peak.proposed()).toEqual([lowered.replace("256Mi", "512Mi").replace("128Mi", "256Mi")]);
  // Twice the size would be needed: it stays.
  const high = new Watch().days(1, (ms) => ({ nodeViews: views(ms, { memoryBytes: 700 * mebibyte }) })).days(6.2);
  expect(high.proposed()).toEqual([]);
  const low = new Watch().days(7.2, (ms) => ({ nodeViews: views(ms, { memoryBytes: 8 * mebibyte }) }));
  expect(low.proposed()[0]).toContain("from 1Gi to 50Mi, and its request from 512Mi to 50Mi");
});

for (const [what, daemonSet] of [
  ["that a person raised by hand", { ...raised, memoryMarks: {} }],
  ["of a DaemonSet that was replaced", { ...raised, uid: "uid-other" }],
] as const) {
  test(`proposeLower leaves a limit alone ${what}`, () => {
    const watch = new Watch().days(7.1);
    expect(watch.proposed({ daemonSets: [daemonSet] })).toEqual([]);
    expect(
      new Watch()
        .days(6, () => ({ daemonSets: [raised] }))
        .days(2, () => ({ daemonSets: [daemonSet] }))
        .proposed({ daemonSets: [daemonSet] }),
    ).toEqual([]);
  });
}

test("nextCalm begins anew with another limit", () => {
  const [container] = raised.containers;
  const mark = raised.memoryMarks?.["kube-multus"];
  const other: DaemonSetFacts = {
    ...raised,
    containers: [{ ...container!, memoryLimit: "2Gi" }],
    memoryMarks: { "kube-multus": { ...mark!, limit: "2Gi" } },
  };
  const facts = (ms: number): Partial<World> => ({
    daemonSets: [other],
    nodeViews: views(ms, { memoryLimitBytes: 2048 * mebibyte }),
  });
  const watch = new Watch().days(6).days(2, facts);
  expect(watch.proposed({ daemonSets: [other] })).toEqual([]);
  expect(watch.days(5.1, facts).proposed({ daemonSets: [other] })[0]).toContain("from 2Gi to 256Mi");
});

function decision(watch: Watch, phase: DecisionPhase, ageMs: number): Decision {
  const [proposal] = proposeLower(watch.world(), settings);
  const since = new Date(watch.nowMs - ageMs).toISOString();
  return {
    ...{ apiVersion: "levee.dev/v1alpha1", kind: "Decision", spec: proposal!.spec },
    metadata: { name: proposal!.name, namespace: "levee-system", creationTimestamp: since },
    status: { phase, message: "", fence: 1, leader: "a", since },
  };
}

test("proposeLower asks once: not beside an open Decision, not after a no, and not twice a day", () => {
  const watch = new Watch().days(10);
  const asked = (phase: DecisionPhase, ageMs: number): string[] =>
    watch.proposed({ decisions: [decision(watch, phase, ageMs)] });
  expect(asked("Proposed", 0)).toEqual([]);
  expect(asked("Paused", 2 * dayMs)).toEqual([]);
  expect(asked("Expired", dayMs / 2)).toEqual([]);
  expect(asked("Expired", 2 * dayMs)).toEqual([lowered]);
  expect(asked("Rejected", 9 * dayMs)).toEqual([]);
  // The guard has raised it again since that no.
  expect(asked("Rejected", 30 * dayMs)).toEqual([lowered]);
});

test("proposeLower follows the facts until somebody approves", () => {
  const watch = new Watch().days(7.2);
  const open = decision(watch, "Proposed", 10 * minuteMs);
  expect(watch.proposed({ decisions: [open] })).toEqual([]);
  watch.look({ nodeViews: views(watch.nowMs, { memoryBytes: 300 * mebibyte }) });
  const [newer] = proposeLower(watch.world({ decisions: [open] }), settings);
  expect(newer?.replaces?.metadata.name).toBe("lower-kube-system-1");
  expect(newer?.spec.revisions?.[0]?.change).toContain("from 1Gi to 512Mi");
});

test("isStillCalm ends a proposal with the calm, and keeps it while nothing is known", () => {
  const watch = new Watch().days(7.2);
  const open = decision(watch, "Proposed", minuteMs);
  expect(isStillCalm(open, watch.world(), settings)).toBe(true);
  expect(isStillCalm(open, calmWorld(), settings)).toBe(true);
  expect(isStillCalm(open, watch.world({ daemonSets: [{ ...raised, memoryMarks: {} }] }), settings)).toBe(false);
  watch.look({ pods: daemons({ oomKilledMs: watch.nowMs - 1 }) });
  expect(isStillCalm(open, watch.world(), settings)).toBe(false);
});

test("standingOf lets an outage raise the memory again, whatever a Decision says that lowers it", () => {
  const watch = new Watch().days(7.2);
  for (const phase of ["Approved", "Succeeded"] as const) {
    const now = outage({ decisions: [decision(watch, phase, 0)] });
    const [avalanche] = findAvalanches(now.pods, now.nowMs);
    expect(standingOf(avalanche!, now).memoryAsked.size).toBe(0);
  }
});
