import { expect, test } from "bun:test";
import { decisionOpen } from "../../gate/reasons/decision-open.ts";
import { someGateFacts } from "../../gate/gate.fixture.ts";
import { heldGate, reason, lateReboots, removalEvent, reservedEvent, reservedNames } from "../../by-hand.fixture.ts";
import type { Decision, DecisionPhase } from "../../decision/decision.ts";
import { parseDecision } from "../../decision/parse-decision.ts";
import type { AskPersonStep } from "../../decision/step.ts";
import { findCauses } from "../../detect/cause.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { noOwners, ownedPods } from "../../runaway.fixture.ts";
import { minuteMs, nowMs, outagePods, world } from "../../world.fixture.ts";
import { isCausePresent } from "../cause-present.ts";
import { propose } from "../propose.ts";
import type { Proposal } from "./make-proposal.ts";

const hourMs = 60 * minuteMs;

function stored({ name, spec }: Proposal, phase: DecisionPhase = "Proposed"): Decision {
  const at = new Date(nowMs).toISOString();
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name, namespace: "levee-system", uid: name, creationTimestamp: at },
    spec,
    status: { phase, message: "", fence: 1, leader: "a", since: at },
  };
}

function names(facts: World): readonly string[] {
  return propose(facts, settings).map(({ name }) => name);
}

function asked({ spec }: Proposal): AskPersonStep["askPerson"] {
  const [step] = spec.steps;
  if (step?.action !== "AskPerson") throw new Error("it asks nobody");
  return step.askPerson;
}

test("propose names the pods whose names stay reserved, their sandboxes, and a crictl line for each", () => {
  const [proposal, ...others] = propose(reservedNames(), settings);
  expect(others).toEqual([]);
  const { name, spec } = proposal!;
  expect([name, spec.cause, spec.purpose, spec.subject.namespace]).toEqual([
    ...["sandboxes-1", "ReservedSandboxNames", "ByHand", ""],
  ]);
  const { items, about } = asked(proposal!);
  expect([about, items.length]).toEqual(["SandboxNames", 24]);
  expect(items[0]).toEqual({
    object: "Pod/shop/web-6f9c-0000",
    node: "rke2-agent1",
    uid: "uid-web-6f9c-0000",
    what: "its name is reserved for sandbox ababababababa; refused 60 times",
    since: "2026-05-10T18:39:00Z",
    line: 'for id in $(crictl pods --quiet --state notready --label io.kubernetes.pod.uid=uid-web-6f9c-0000); do crictl stopp "$id"; crictl rmp --force "$id"; done',
  });
  expect(spec.chain.map(({ rule }) => rule)).toEqual(["ReservedNameFailsSandboxes", "ReservedNameSticksPods"]);
  expect(spec.steps.map(({ action }) => action)).toEqual(["AskPerson", "Verify"]);
  expect(parseDecision(stored(proposal!))).toBeDefined();
});

test.each<[string, World]>([
  ["one failed DEL", reservedNames({}, 1)],
  ["two pods", reservedNames({}, 2)],
  [
    "an ADD that was slow for four minutes",
    reservedNames({
      events: [...reservedNames().pods].map((pod) => reservedEvent(pod, { firstMs: nowMs - 5 * minuteMs })),
    }),
  ],
  [
    "events of an hour ago",
    reservedNames({
      events: [...reservedNames().pods].map((pod) =>
        reservedEvent(pod, { firstMs: nowMs - 90 * minuteMs, lastMs: nowMs - 60 * minuteMs }),
      ),
    }),
  ],
  ["pods that have started", reservedNames({ pods: [] })],
  [
    "events that somebody wrote about running pods",
    reservedNames({ pods: ownedPods("ReplicaSet/web-6f9c", 24, { phase: "Running", everRan: true }) }),
  ],
])("propose says nothing about %s", (_what, facts) => {
  expect(names({ ...facts, owners: noOwners }).filter((name) => name.startsWith("sandboxes"))).toEqual([]);
});

const two = [...reservedNames({}, 4).pods];
const ending = two.slice(0, 2).map((pod) => ({ ...pod, isDeleting: true, phase: "Running", everRan: true }));
/** As containerd 1.6 and kubelet 1.34 behave: two pods cannot end, and two cannot start, because a DEL fails. */
const kept: Partial<World> = {
  pods: [...ending, ...two.slice(2)],
  events: [],
  removalEvents: [
    ...ending.map((pod) => removalEvent(pod, "FailedKillPod")),
    ...two.slice(2).map((pod) => removalEvent(pod, "SandboxChanged")),
  ],
};

test("propose names pods that cannot end or start because their sandboxes cannot be removed, without a refused name", () => {
  const [proposal] = propose(reservedNames(kept), settings);
  expect(proposal?.spec.summary).toStartWith(
    "4 pods on rke2-agent1 cannot start or end: the runtime cannot remove their sandboxes, as the kubelet has said since 2026-05-10T18:39:00Z",
  );
  expect(asked(proposal!).items.map(({ what }) => what)).toEqual([
    ...Array<string>(2).fill("it is being deleted, and sandbox ababababababa cannot be removed; tried 60 times"),
    ...Array<string>(2).fill("it needs a new sandbox, and the old one cannot be removed; tried 60 times"),
  ]);
  const decision = stored(proposal!);
  expect(isCausePresent(decision, reservedNames(kept), settings)).toBe(true);
  // The DEL works again: two have gone, and two have started.
  const well = ownedPods("ReplicaSet/web-6f9c", 4, { phase: "Running", everRan: true }).slice(2);
  expect(isCausePresent(decision, reservedNames({ ...kept, pods: well }), settings)).toBe(false);
});

test.each<[string, Partial<World>]>([
  ["pods to end that are not being deleted", { pods: two }],
  ["a CNI daemon that is down there", { pods: [...[...kept.pods!], daemonPod({ isReady: false })] }],
  [
    "a CNI daemon that was just killed there",
    { pods: [...[...kept.pods!], daemonPod({ isReady: true, oomKilledMs: nowMs - minuteMs })] },
  ],
  [
    "sandboxes that a reboot has changed",
    { removalEvents: kept.removalEvents!.map((event) => ({ ...event, firstMs: event.lastMs - minuteMs })) },
  ],
])("propose says nothing about sandboxes that stay with %s", (_what, facts) => {
  expect(names(reservedNames({ ...kept, ...facts })).filter((name) => name.startsWith("sandboxes"))).toEqual([]);
});

test("propose counts sandboxes that stay on a node whose CNI daemon is well", () => {
  const pods = [...kept.pods!, daemonPod({ isReady: true })];
  expect(names(reservedNames({ ...kept, pods }))).toEqual(["sandboxes-1"]);
});

function daemonPod(changes: Partial<ClusterPod>): ClusterPod {
  const place = { namespace: "kube-system", owner: "DaemonSet/kube-multus-ds", node: "rke2-agent1" };
  return { ...two[0]!, name: "multus", uid: "uid-multus", phase: "Running", everRan: true, ...place, ...changes };
}

test("findCauses gives an avalanche its own pods, although their names are reserved too", () => {
  const pods = outagePods(30);
  const facts = world({ pods, owners: noOwners, events: pods.map((pod) => reservedEvent(pod)) });
  const { avalanches, reserved, runaways } = findCauses(facts, settings);
  expect([avalanches.length, reserved, runaways]).toEqual([1, undefined, []]);
});

test("a Decision about reserved names follows its pods, and ends when they are free", () => {
  const [first] = propose(reservedNames(), settings);
  const open = stored(first!);
  const later = { decisions: [open], nowMs: nowMs + minuteMs };
  expect(propose(reservedNames(later, 26), settings)).toEqual([]);
  const [newer] = propose(reservedNames(later, 28), settings);
  expect([newer?.name, asked(newer!).items.length]).toEqual(["sandboxes-1", 28]);
  expect(isCausePresent(open, reservedNames(), settings)).toBe(true);
  expect(isCausePresent(open, reservedNames({ events: [] }), settings)).toBe(false);
  const rejected = { decisions: [stored(first!, "Rejected")] };
  expect(names(reservedNames(rejected))).toEqual([]);
  // Two more are cleaned up by the runtime's next try; three are a new question.
  expect(names(reservedNames(rejected, 26))).toEqual([]);
  expect(names(reservedNames(rejected, 27))).toEqual(["sandboxes-2"]);
});

test("propose says what blocks reboots, since when and how to clear it, once for all nodes", () => {
  const gates = [
    heldGate("k8s-master", {
      reasons: [
        reason(),
        reason({ code: "KuredLockOrphaned", object: "DaemonSet/kube-system/kured", message: "a lock of old-1" }),
        reason({ code: "OutsideWindow", object: "RebootWindow" }),
      ],
    }),
    heldGate("k8s-node2", { rebootRequiredSinceMs: nowMs - 40 * hourMs }),
  ];
  const alerts = [{ name: "KuredRebootBacklog", labels: { node: "k8s-node2" }, startsMs: nowMs - hourMs }];
  const [proposal, ...others] = propose(lateReboots(gates, { alerts }), settings);
  expect(others).toEqual([]);
  const { name, spec } = proposal!;
  expect([name, spec.cause, spec.purpose]).toEqual(["reboots-1", "RebootBacklog", "ByHand"]);
  expect(asked(proposal!).items).toMatchObject([
    { object: "Alert/NodeFilesystemFull", node: "", what: expect.stringContaining("(2 nodes)") as string },
    { object: "DaemonSet/kube-system/kured", node: "k8s-master", since: "2026-05-09T13:00:00Z" },
  ]);
  expect(spec.summary).toContain(
    "The first got its mark at 2026-05-09T03:00:00Z. What blocks: FiringAlert, KuredLockOrphaned",
  );
  expect(spec.chain.map(({ effect, rule }) => `${effect} ${rule}`)).toEqual(["alert KuredRebootBacklog AlertOfReboot"]);
  expect(spec.evidence[1]).toMatchObject({ value: 40, detail: "k8s-node2: FiringAlert since 2026-05-09T13:00:00Z" });
});

test.each<[string, Parameters<typeof heldGate>[1]]>([
  ["a node that has waited for an hour in its window", { rebootRequiredSinceMs: nowMs - hourMs }],
  ["a node that only waits for its window", { reasons: [reason({ code: "OutsideWindow" })] }],
  ["a node that only waits for its turn", { reasons: [reason({ code: "WaitsForTurn" })] }],
  ["a reason that came a minute ago", { reasons: [reason({ sinceMs: nowMs - minuteMs })] }],
  ["a node that may be rebooted", { verdict: "Allow", reasons: [] }],
])("propose says nothing about %s", (_what, changes) => {
  expect(names(lateReboots([heldGate("n1", changes)]))).toEqual([]);
});

test("a Decision about reboots follows the reasons, survives a gate that opens for a moment, and blocks no reboot", () => {
  const [first] = propose(lateReboots(), settings);
  const open = stored(first!);
  const later = { decisions: [open], nowMs: nowMs + minuteMs };
  expect(propose(lateReboots([heldGate("k8s-master")], later), settings)).toEqual([]);
  const quorum = reason({ code: "ControlPlaneQuorum", object: "Node/k8s-master", message: "1 of 3" });
  const [newer] = propose(lateReboots([heldGate("k8s-master", { reasons: [quorum] })], later), settings);
  expect(newer?.replaces).toBe(open);
  const allowed = (sinceMs: number): World =>
    lateReboots([heldGate("k8s-master", { verdict: "Allow", reasons: [], allowedSinceMs: sinceMs })]);
  expect(isCausePresent(open, allowed(nowMs - minuteMs), settings)).toBe(true);
  expect(isCausePresent(open, allowed(nowMs - 2 * hourMs), settings)).toBe(false);
  expect(isCausePresent(open, lateReboots([]), settings)).toBe(false);
  expect(isCausePresent(open, { ...lateReboots(), rebootGates: undefined }, settings)).toBe(true);
  const [sandboxes] = propose(reservedNames(), settings);
  expect(decisionOpen(undefined, someGateFacts({ decisions: [open, stored(sandboxes!)] }))).toEqual([]);
});

test("propose asks again about a node whose reasons were cleared once, when new ones block the same reboot", () => {
  const [first] = propose(lateReboots(), settings);
  const again = (phase: DecisionPhase): readonly string[] =>
    names(lateReboots(undefined, { decisions: [stored(first!, phase)], nowMs: nowMs + minuteMs }));
  expect(again("Succeeded")).toEqual(["reboots-2"]);
  expect(again("Rejected")).toEqual([]);
  expect(again("Running")).toEqual([]);
});

test("propose asks again about reboots that were rejected when one more node is late", () => {
  const [first] = propose(lateReboots(), settings);
  const decisions = [stored(first!, "Rejected")];
  const laterMs = nowMs + 2 * hourMs;
  const another = (markedMs: number): readonly string[] =>
    names(
      lateReboots([heldGate("k8s-master"), heldGate("k8s-node2", { rebootRequiredSinceMs: markedMs })], {
        decisions,
        nowMs: laterMs,
      }),
    );
  // Late already when the person said no.
  expect(another(nowMs - 24 * hourMs - minuteMs)).toEqual([]);
  expect(another(nowMs - 23 * hourMs)).toEqual(["reboots-2"]);
});
