import { expect, test } from "bun:test";
import type { Decision } from "../../decision/decision.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { MemoryCalm } from "../../facts/memory-calm.ts";
import type { MemoryPast } from "../../facts/memory-past.ts";
import type { World } from "../../facts/world.ts";
import { minuteMs, nowMs, outagePods } from "../../world.fixture.ts";
import { parseCalms, printCalms } from "./calm-text.ts";
import { calmWorld, daemons, dayMs, mebibyte, raised, views } from "./calm.fixture.ts";
import { nextCalm, watchedNow } from "./memory-calm.ts";
import { memoryQuestions } from "./memory-questions.ts";
import { pastCalm, pastOf } from "./past-calm.ts";
import { proposeLower } from "./propose-lower.ts";

const key = `${raised.uid}/kube-multus`;
const quarters = new Map(daemons().map(({ name }) => [name, 672]));

/** A week in which Prometheus has seen three pods, of which one used 40Mi. */
function past(changes: Partial<MemoryPast> = {}): MemoryPast {
  const peak = { peakBytes: 40 * mebibyte, peakPod: "kube-multus-ds-rke2-agent2" };
  return {
    ...{ key, limit: "1Gi", fromMs: nowMs - 7 * dayMs, atMs: nowMs, unread: "", ...peak },
    ...{ quarters, killed: [], counted: 3, ...changes },
  };
}

/** A cluster whose daemons tell nothing, as Multus' do. */
function multusWorld(facts: Partial<World> = {}): World {
  return calmWorld({ nodeViews: [], memoryPasts: [past()], ...facts });
}

function calmIn(world: World, before?: MemoryCalm): MemoryCalm {
  const [watched] = watchedNow(world, settings);
  const known = pastOf(watched!, world);
  return known === undefined ? nextCalm(watched!, before, world, new Map()) : pastCalm(watched!, before, known, world);
}

function proposed(world: World, calm: MemoryCalm): ReturnType<typeof proposeLower> {
  return proposeLower({ ...world, memoryCalms: parseCalms(printCalms([calm])) }, settings);
}

test("pastCalm lets the way back be proposed at once, by a week that Prometheus has seen", () => {
  const world = multusWorld();
  const calm = calmIn(world);
  expect(calm).toMatchObject({ sinceMs: nowMs - 7 * dayMs, peakNode: "rke2-agent2", isOfPrometheus: true });
  const [proposal] = proposed(world, calm);
  expect(proposal?.spec.steps[0]?.title).toContain("from 1Gi to 64Mi, and its request from 512Mi to 50Mi");
  expect(proposal?.spec.notes.join("\n")).toContain("by Prometheus, is 40Mi (on rke2-agent2): 40Mi × 1.5 = 60Mi");
  expect(proposal?.spec.evidence.map(({ fact }) => fact)).toContain("pods whose use Prometheus has for that time");
});

const newNode = [
  { name: "rke2-agent1", isReady: true, memoryBytes: 0, address: "", createdMs: nowMs - 2 * dayMs },
  { name: "rke2-agent2", isReady: true, memoryBytes: 0, address: "", createdMs: nowMs - 90 * dayMs },
];
const pods = daemons();
const youngPods = [{ ...pods[0]!, createdMs: nowMs - 2 * dayMs }, ...pods.slice(1)];
const fewer = new Map([...quarters, ["kube-multus-ds-rke2-agent1", 191]]);

test.each([
  ["a gap", { memoryPasts: [past({ quarters: fewer })] }, "no sample of kube-multus-ds-rke2-agent1 in 481 of 672"],
  ["a pod without samples", { memoryPasts: [past({ quarters: new Map() })] }, "in 672 of 672 quarters"],
  ["no samples", { memoryPasts: [past({ peakBytes: 0 })] }, "Prometheus has no container_memory_working_set_bytes"],
  ["a kill", { memoryPasts: [past({ killed: ["kube-multus-ds-old"] })] }, "in kube-multus-ds-old"],
  ["a kill in a pod's status", { pods: daemons({ oomKilledMs: nowMs - dayMs }) }, "was killed for memory at"],
  ["pressure", { memoryPasts: [past({ peakBytes: 800 * mebibyte })] }, "used more than 75 % of 1Gi"],
  ["no counter of kills", { memoryPasts: [past({ counted: 2 })] }, "a counter of kills for 2 of 3 pods"],
  ["an old answer", { memoryPasts: [past({ atMs: nowMs - 31 * minuteMs, unread: "no route" })] }, "asked: no route"],
  ["a Prometheus that never answered", { memoryPasts: [past({ atMs: 0, unread: "no route" })] }, "asked: no route"],
  ["a pod that is missing", { pods: pods.slice(1) }, "not every node has a pod of it"],
  ["a pod that was replaced", { pods: youngPods }, "kube-multus-ds-rke2-agent1 is there since"],
  ["a pod that was replaced on an old node", { pods: youngPods, nodes: newNode.slice(1) }, "is there since"],
  ["a backlog", { pods: [...pods, ...outagePods(20, { boundMs: nowMs - 10 * minuteMs })] }, "20 pods with a node"],
] as const)("pastCalm is not calm with %s, and says so", (_what, facts, words) => {
  const world = multusWorld(facts);
  const calm = calmIn(world);
  expect(calm.broken).toContain(words);
  expect(proposed(world, calm)).toEqual([]);
});

test("pastCalm counts a pod of a new node from its creation", () => {
  const world = multusWorld({ pods: youngPods, nodes: newNode, memoryPasts: [past({ quarters: fewer })] });
  expect(calmIn(world).broken).toBe("");
});

test("pastCalm outlives a guard and a Prometheus that are away for a while", () => {
  const away = past({ atMs: nowMs - 20 * minuteMs, fromMs: nowMs - 7 * dayMs - 20 * minuteMs, unread: "no route" });
  const world = multusWorld({ memoryPasts: [away] });
  expect(calmIn(world, { ...calmIn(multusWorld()), coveredMs: nowMs - 3 * dayMs }).broken).toBe("");
  expect(proposed(world, calmIn(world))).toHaveLength(1);
});

test("pastCalm remembers a backlog that the guard saw, also from before Prometheus was asked", () => {
  const backlog = [...pods, ...outagePods(20, { boundMs: nowMs - 4 * dayMs })];
  const then = calmIn(calmWorld({ nowMs: nowMs - 3 * dayMs, nodeViews: [], pods: backlog }));
  const world = multusWorld();
  const calm = calmIn(world, parseCalms(printCalms([then]))[0]);
  expect(calm.sinceMs).toBe(nowMs - 3 * dayMs);
  expect(proposed(world, calm)).toEqual([]);
  // Another limit is another story.
  expect(calmIn(world, { ...then, limit: "2Gi" }).sinceMs).toBe(nowMs - 7 * dayMs);
});

test("nextCalm does not go on from what Prometheus has told when the daemons tell it themselves", () => {
  const world = multusWorld({ nodeViews: views(nowMs) });
  expect(calmIn(world, calmIn(multusWorld()))).toMatchObject({ sinceMs: nowMs, peakBytes: 100 * mebibyte });
});

test("memoryQuestions asks about silent daemons whose raise is a week old, and every minute while less is tried", () => {
  const calm = calmIn(calmWorld({ nodeViews: [] }));
  const world = multusWorld({ memoryCalms: [calm] });
  const question = {
    ...{ key, limit: "1Gi", namespace: "kube-system", daemonSet: "kube-multus-ds", container: "kube-multus" },
    ...{ lengthMs: 7 * dayMs, isTried: false },
  };
  expect(memoryQuestions(world, settings)).toEqual([question]);
  expect(memoryQuestions({ ...world, memoryCalms: [calmIn(world)] }, settings)).toEqual([question]);
  const none: readonly World[] = [
    { ...world, nodeViews: views(nowMs) },
    // A guard that has just begun has heard nobody yet.
    { ...world, memoryCalms: [{ ...calm, coveredMs: nowMs - 5 * minuteMs }] },
    { ...world, memoryCalms: undefined },
    { ...world, daemonSets: [{ ...raised, memoryMarks: {} }] },
    { ...world, nowMs: Date.parse("2026-05-08T09:00:00Z") },
  ];
  for (const one of none) expect(memoryQuestions(one, settings)).toEqual([]);
  expect(memoryQuestions(world, { ...settings, calmForMs: Number.POSITIVE_INFINITY })).toEqual([]);
  const [proposal] = proposed(world, calmIn(world));
  const decision: Decision = {
    ...{ apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata: { name: "l", namespace: "n" } },
    ...{ spec: proposal!.spec, status: { phase: "Running", message: "", fence: 1, leader: "a", since: "" } },
  };
  const tried = memoryQuestions({ ...world, decisions: [decision], nowMs: nowMs - 9 * dayMs }, settings);
  expect(tried).toEqual([{ ...question, isTried: true }]);
});
