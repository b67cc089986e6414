import { expect, test } from "bun:test";
import type { Decision, DecisionPhase } from "../decision/decision.ts";
import { planHash } from "../decision/plan-hash.ts";
import type { Step } from "../decision/step.ts";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { multus, multusFile, outage } from "../outage.fixture.ts";
import { minuteMs, nowMs, outagePods, stuckPod, world } from "../world.fixture.ts";
import type { Proposal } from "./causes/make-proposal.ts";
import { propose } from "./propose.ts";

/** The proposals as Decisions in the API server. */
function created(proposals: readonly Proposal[], phase: DecisionPhase, atMs = nowMs): readonly Decision[] {
  return proposals.map(({ name, spec }) => ({
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name, namespace: "levee-system", uid: name, creationTimestamp: new Date(atMs).toISOString() },
    spec,
    status: { phase, message: "", fence: 1, leader: "a", since: new Date(atMs).toISOString() },
  }));
}

function names(facts: World): readonly string[] {
  return propose(facts, settings).map(({ name }) => name);
}

function recoverySteps(facts: World): readonly Step[] {
  return propose(facts, settings).find(({ spec }) => spec.purpose === "Recover")?.spec.steps ?? [];
}

function uids(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => (step.action === "RemovePods" ? step.targets.map(({ uid }) => uid) : []));
}

test("propose makes two Decisions about the outage, the second with its steps in order", () => {
  const [stop, recover, ...others] = propose(outage(), settings);
  expect(others).toEqual([]);
  expect([stop?.name, recover?.name]).toEqual(["stop-fc-desktop-1", "recover-fc-desktop-1"]);
  expect(stop?.spec.steps).toMatchObject([
    {
      id: 1,
      action: "StopSource",
      stopSource: { way: "Label", namespace: "fc-desktop", key: "levee.dev/ownerless-pods", value: "deny" },
      kubectl: ["kubectl label --overwrite namespace fc-desktop levee.dev/ownerless-pods=deny"],
    },
  ]);
  expect(recover?.spec.steps.map(({ id, action }) => `${id} ${action}`)).toEqual([
    "1 HoldArgoApp",
    "2 RemovePods",
    "3 SetMemoryLimit",
    "4 LockToGit",
    "5 ListStuck",
    "6 RestartWorkload",
    "7 Verify",
  ]);
  for (const { spec } of [stop!, recover!]) {
    expect(spec.planHash).toBe(planHash(spec));
    expect(spec.steps.every(({ kubectl }) => kubectl.length > 0)).toBe(true);
    expect(spec.evidence[0]).toMatchObject({ value: 219 });
    expect(spec.summary).toContain('their client calls itself "RemoteDesktop"');
  }
});

test("propose gives the line that takes a stop back, by label and by quota", () => {
  const notesOf = (facts: World): readonly string[] => propose(facts, settings)[0]?.spec.notes ?? [];
  const undo = "To undo it when the source is repaired:";
  expect(notesOf(outage())).toContain(`${undo} kubectl label namespace fc-desktop levee.dev/ownerless-pods-`);
  expect(notesOf(outage({ isOwnerPolicyInstalled: false }))).toContain(
    `${undo} kubectl -n fc-desktop delete quota levee-ownerless-pods`,
  );
});

test("propose targets the UIDs of the avalanche and of nothing else in the namespace", () => {
  const targets = uids(recoverySteps(outage()));
  expect(targets.length).toBe(219);
  expect(targets.every((uid) => uid.startsWith("uid-rd-browser-only-"))).toBe(true);
});

test("propose raises the limit to a proven value, and locks the same value in git", () => {
  const steps = recoverySteps(outage());
  expect(steps[2]).toMatchObject({
    setMemoryLimit: { uid: "uid-multus", oldLimit: "50Mi", newLimit: "1Gi", oldRequest: "50Mi", newRequest: "512Mi" },
    kubectl: [
      "kubectl -n kube-system set resources daemonset/kube-multus-ds -c kube-multus --limits=memory=1Gi --requests=memory=512Mi",
      "kubectl -n kube-system rollout status daemonset/kube-multus-ds",
    ],
  });
  expect(steps[3]).toMatchObject({
    lockToGit: {
      branch: "levee/recover-fc-desktop-1",
      path: "apps/multus/multus.yaml",
      oldBlobSha: multusFile.blobSha,
      edits: [
        { pointer: "/spec/template/spec/containers/0/resources/limits/memory", from: "50Mi", to: "1Gi" },
        { pointer: "/spec/template/spec/containers/0/resources/requests/memory", from: "50Mi", to: "512Mi" },
      ],
    },
  });
});

test("propose verifies the effects of the cause, and nothing else", () => {
  expect(recoverySteps(outage()).at(-1)).toMatchObject({
    verify: {
      checks: [
        { check: "BacklogGone", namespace: "fc-desktop", podsMax: 19 },
        { check: "DaemonSetReady", namespace: "kube-system", name: "kube-multus-ds" },
        { check: "DeploymentAvailable", namespace: "kube-system", name: "traefik" },
        { check: "ApplicationsKnown", unknownMax: 0 },
        { check: "EndpointsReady", namespace: "kube-system", name: "traefik" },
      ],
    },
  });
});

test("propose lists stuck workloads with the lines that restart them", () => {
  const step = recoverySteps(outage()).find(({ action }) => action === "ListStuck");
  expect(step).toMatchObject({
    listStuck: {
      omitted: 0,
      workloads: [
        {
          kind: "Job",
          namespace: "fc-desktop",
          name: "nightly",
          kubectl: "kubectl -n fc-desktop describe job nightly",
        },
        { kind: "Deployment", name: "traefik", kubectl: "kubectl -n kube-system rollout restart deployment/traefik" },
      ],
    },
  });
});

test("propose falls back on a quota of the other pods and headroom where the policy is not installed", () => {
  const [stop] = propose(outage({ isOwnerPolicyInstalled: false }), settings);
  // Besides, there are operator, debug, nightly-1 and static.
  expect(stop?.spec.steps).toMatchObject([{ stopSource: { way: "Quota", quota: "levee-ownerless-pods", pods: 14 } }]);
});

test("propose never sets a quota at or above the current use", () => {
  const others = Array.from({ length: 500 }, (_, index) =>
    stuckPod(`o-${index}`, { owner: "ReplicaSet/x", phase: "Running" }),
  );
  const [stop] = propose(world({ pods: [...outagePods(20), ...others], isOwnerPolicyInstalled: false }), settings);
  expect(stop?.spec.steps).toMatchObject([{ stopSource: { pods: 510 } }]);
});

for (const [what, pods] of [
  ["a healthy rollout of 300 pods", outagePods(300, { owner: "ReplicaSet/web-1", phase: "Running", shape: "" })],
  ["300 pods of Jobs", outagePods(300, { owner: "Job/x", shape: "" })],
  ["30 debug pods of people", outagePods(30).map((pod, index) => ({ ...pod, shape: `labels ${index} spec 1` }))],
  ["19 pods of one make", outagePods(19)],
  ["300 pods with a bad image", outagePods(300, { everRan: true })],
  ["one pod", outagePods(1)],
  ["30 static pods", outagePods(30, { isMirror: true })],
] as const) {
  test(`propose asks nothing about ${what}`, () => {
    expect(names(outage({ pods }))).toEqual([]);
  });
}

test("propose leaves alone pods that ran once or that a person created, and says so", () => {
  const pods = [
    ...outagePods(30),
    stuckPod("ran", { everRan: true }),
    stuckPod("by-hand", { clientSays: "kubectl-create" }),
  ];
  const recover = propose(outage({ pods }), settings)[1];
  expect(uids(recover?.spec.steps ?? []).length).toBe(30);
  expect(recover?.spec.notes).toContain("1 more pods are left alone: by their client's name, a person created them");
});

for (const [what, clientSays, targets] of [
  ["all claim to be a person", () => "kubectl-run", 30],
  ["each claims another name", (index: number) => `client-${index}`, 30],
  ["half of them claim to be a person", (index: number) => (index % 2 === 0 ? "kubectl-run" : "operator"), 30],
  ["a few claim to be a person", (index: number) => (index < 10 ? "kubectl-debug" : "operator"), 20],
] as const) {
  test(`propose asks about a set of which ${what}: a name hides nothing`, () => {
    const pods = outagePods(30).map((pod, index) => ({ ...pod, clientSays: clientSays(index) }));
    expect(uids(recoverySteps(outage({ pods }))).length).toBe(targets);
  });
}

for (const phase of ["Proposed", "Approved", "Running", "Paused", "Succeeded", "Rejected"] as const) {
  test(`propose does not ask again about pods of a Decision that is ${phase}`, () => {
    const decisions = created(propose(outage(), settings), phase);
    expect(names(outage({ decisions }))).toEqual([]);
  });
}

for (const phase of ["Expired", "Failed", "Superseded"] as const) {
  test(`propose asks again, under the next number, after a Decision that is ${phase}`, () => {
    const decisions = created(propose(outage(), settings), phase);
    expect(names(outage({ decisions }))).toEqual(["stop-fc-desktop-2", "recover-fc-desktop-2"]);
  });
}

test("propose stops for an hour in a namespace whose pods change faster than people answer", () => {
  let decisions: readonly Decision[] = [];
  for (let round = 0; round < 10; round += 1)
    decisions = [...decisions, ...created(propose(outage({ decisions }), settings), "Expired")];
  expect(decisions.length).toBe(8);
  const later = outage({ decisions, nowMs: nowMs + 61 * minuteMs });
  expect(names(later)).toEqual(["stop-fc-desktop-5", "recover-fc-desktop-5"]);
});

test("propose applies a rejection to this avalanche, not to a later one", () => {
  const decisions = created(propose(outage(), settings), "Rejected", nowMs - 24 * 60 * minuteMs);
  expect(names(outage({ decisions }))).toEqual(["stop-fc-desktop-2", "recover-fc-desktop-2"]);
});

test("propose puts later pods into a later Decision, without a second change of memory, and leaves the first alone", () => {
  const decisions = created(propose(outage(), settings), "Running");
  const some = outagePods(19, { clientSays: "RemoteDesktop" }).map((pod) => ({
    ...pod,
    uid: `late-${pod.uid}`,
    name: `late-${pod.name}`,
  }));
  const seen = outage({ decisions });
  expect(names({ ...seen, pods: [...seen.pods, ...some] })).toEqual([]);
  const twentieth = stuckPod("late", { uid: "late-20" });
  const [later, ...others] = propose({ ...seen, pods: [...seen.pods, ...some, twentieth] }, settings);
  expect(others).toEqual([]);
  expect(later?.name).toBe("recover-fc-desktop-2");
  expect(later?.spec.steps.map(({ action }) => action)).toEqual([
    "RemovePods",
    "ListStuck",
    "RestartWorkload",
    "Verify",
  ]);
  expect(uids(later?.spec.steps ?? []).length).toBe(20);
  expect(later?.spec.notes).toContain("219 more pods of the avalanche are targets of another Decision");
});

test("propose does not ask to stop a source that is stopped", () => {
  const namespaces = [{ name: "fc-desktop", labels: { "levee.dev/ownerless-pods": "deny" } }];
  expect(names(outage({ namespaces }))).toEqual(["recover-fc-desktop-1"]);
});

test("propose falls back on a quota where pods of the shape come despite the label, and proposes it once", () => {
  const labels = { "levee.dev/ownerless-pods": "deny" };
  const labelled = (agoMs: number): World["namespaces"] => [{ name: "fc-desktop", labels, labelledMs: nowMs - agoMs }];
  const decisions = created(propose(outage(), settings), "Succeeded");
  // The last was created 6 minutes ago, the others every 10 s before it.
  expect(names(outage({ decisions, namespaces: labelled(7 * minuteMs) }))).toEqual([]);
  const facts = outage({ decisions, namespaces: labelled(10 * minuteMs) });
  const [quota, ...others] = propose(facts, settings);
  expect(others).toEqual([]);
  expect(quota?.name).toBe("stop-fc-desktop-2");
  expect(quota?.spec.steps).toMatchObject([
    {
      stopSource: { way: "Quota", pods: 14 },
      preconditions: ["fc-desktop refuses ownerless pods by its label, and 17 were created all the same"],
    },
  ]);
  expect(names({ ...facts, decisions: [...decisions, ...created([quota!], "Rejected")] })).toEqual([]);
});

test("propose keeps a step within 1,000 targets and a Decision within 2,000; the rest comes next", () => {
  const facts = outage({ pods: outagePods(3_300) });
  const first = propose(facts, settings);
  const sizes = (steps: readonly Step[] = []): readonly number[] =>
    steps.flatMap((step) => (step.action === "RemovePods" ? [step.targets.length] : []));
  expect(sizes(first[1]?.spec.steps)).toEqual([1_000, 1_000]);
  const [second] = propose({ ...facts, decisions: created(first, "Approved") }, settings);
  expect(sizes(second?.spec.steps)).toEqual([1_000, 300]);
  const both = [...uids(first[1]?.spec.steps ?? []), ...uids(second?.spec.steps ?? [])];
  expect(new Set(both).size).toBe(3_300);
  // Fewer names of full length fit.
  const long = outagePods(1_500).map((pod) => ({ ...pod, name: pod.name.padEnd(253, "x"), node: "n".repeat(253) }));
  expect(sizes(propose(outage({ pods: long }), settings)[1]?.spec.steps)).toEqual([511]);
});

test("propose says whether Argo CD's revert is held, and gives the line that holds it", () => {
  const notes = (facts: World): string => propose(facts, settings)[1]?.spec.notes.join("\n") ?? "";
  expect(notes(outage())).toContain("Argo CD reverts the new limit as soon as it can compare infra-multus again");
  expect(recoverySteps(outage())[0]?.kubectl[0]).toBe(
    `kubectl -n argocd patch appproject default --type=json -p '[{"op":"add","path":"/spec/syncWindows","value":[{"kind":"deny","schedule":"* * * * *","duration":"1h","applications":["infra-multus"],"manualSync":true}]}]'`,
  );
  const window = { kind: "deny", schedule: "* * * * *", duration: "1h", timeZone: "", applications: ["infra-multus"] };
  const syncWindows = [{ ...window, needsAll: false }];
  const held = outage({ projects: [{ namespace: "argocd", name: "default", syncWindows, sourceNamespaces: [] }] });
  expect(notes(held)).toContain("Argo CD's syncs of infra-multus are held now");
  expect(recoverySteps(held)[0]?.kubectl[0]).toContain('"path":"/spec/syncWindows/-"');
  const [application] = outage().applications;
  expect(notes(outage({ applications: [{ ...application!, isAutomated: false }] }))).toContain(
    "does not sync infra-multus by itself",
  );
});

test("propose changes no memory when no CNI daemon was killed", () => {
  const facts = outage();
  const pods = [...facts.pods].map((pod) => ({ ...pod, oomKilledMs: 0 }));
  expect(recoverySteps({ ...facts, pods }).map(({ action }) => action)).toEqual(["RemovePods", "ListStuck", "Verify"]);
});

for (const [what, facts, note] of [
  ["git was not read", { gitFiles: [] }, "Git could not be read for infra-multus: it has not been read yet, or no"],
  [
    "git cannot be read",
    {
      gitFiles: [],
      gitProblems: [
        { repository: multusFile.repository, revision: "release", path: "apps/multus", problem: "another one" },
        { repository: multusFile.repository, revision: "main", path: "apps/multus", problem: "it is away" },
      ],
    },
    "Git could not be read for infra-multus: it is away; write 1Gi into git by hand",
  ],
  [
    "the file is in a folder below, which Argo CD does not read",
    { gitFiles: [{ ...multusFile, path: "apps/multus/old/x.yaml" }] },
    "Git could not be read",
  ],
  [
    "two files hold the limit",
    { gitFiles: [multusFile, { ...multusFile, path: "apps/multus/b.yaml" }] },
    "2 files in git hold the limit",
  ],
  ["the file is elsewhere", { gitFiles: [{ ...multusFile, path: "apps/multus2/x.yaml" }] }, "Git could not be read"],
  [
    "the Application is unknown",
    { applications: [] },
    "kube-system/kube-multus-ds is marked as owned by the Application infra-multus",
  ],
  [
    "the container has no limit",
    { daemonSets: [{ ...multus, containers: [{ name: "kube-multus", memoryLimit: "", memoryRequest: "" }] }] },
    'its limit "" is not a quantity',
  ],
  [
    "the nodes are too small",
    { nodes: [{ name: "n", isReady: true, memoryBytes: 2 ** 28, address: "" }] },
    "more than 50Mi is too much for its nodes",
  ],
] as const) {
  test(`propose leaves the rest to a person and says so when ${what}`, () => {
    const recover = propose(outage(facts), settings)[1];
    expect(recover?.spec.steps.some(({ action }) => action === "LockToGit")).toBe(false);
    expect(recover?.spec.notes.some((text) => text.includes(note))).toBe(true);
  });
}

test("propose shows the daemons of the avalanche's nodes, and no others", () => {
  const view = (node: string): World["nodeViews"][number] => ({
    node,
    atMs: nowMs - minuteMs,
    waiting: 64,
    running: 4,
    leaks: 0,
    memoryBytes: 90 * 2 ** 20,
    memoryLimitBytes: 96 * 2 ** 20,
    oomKills: 2,
  });
  const [stop] = propose(outage({ nodeViews: [view("rke2-agent1"), view("elsewhere")] }), settings);
  const waits = stop?.spec.evidence.filter(({ fact }) => fact === "calls waiting in a node's daemon");
  expect(waits).toEqual([
    {
      fact: "calls waiting in a node's daemon",
      value: 64,
      at: "2026-05-10T18:59:00Z",
      detail: "rke2-agent1, it uses 90 MiB of 96 MiB, 2 processes killed for memory",
    },
  ]);
});

test("propose writes no tenant's text into a Decision that could control a terminal", () => {
  const clientSays = 'evil\u001b[2J\u202e". All is well”';
  const [stop] = propose(outage({ pods: outagePods(30, { clientSays, shape: "a\u0007- spec 1" }) }), settings);
  expect(JSON.stringify(stop)).not.toMatch(/\\u001b|\\u0007|\u202e/);
  expect(stop?.spec.summary).toContain(`their client calls itself "evil'. All is well'"`);
});

test("propose is pure: the same world gives the same hashes", () => {
  const hashes = (): readonly string[] => propose(outage(), settings).map(({ spec }) => spec.planHash);
  expect(hashes()).toEqual(hashes());
});
