import { expect, test } from "bun:test";
import type { Decision, DecisionPhase } from "../../decision/decision.ts";
import { isPlanIntact, parseDecision } from "../../decision/parse-decision.ts";
import type { Step } from "../../decision/step.ts";
import type { JobFacts } from "../../facts/owner-facts.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { outage } from "../../outage.fixture.ts";
import {
  job,
  noOwners,
  ownedPods,
  runawayCronJob,
  runawayDeployment,
  runawayJob,
  sandboxEvent,
  startedPods,
} from "../../runaway.fixture.ts";
import { minuteMs, nowMs } from "../../world.fixture.ts";
import { newlyFallen } from "../../act/steps/fallen-workloads.ts";
import { isCausePresent } from "../cause-present.ts";
import { propose } from "../propose.ts";
import { supersededBy } from "../standing.ts";
import type { Proposal } from "./make-proposal.ts";

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

function only(facts: World): Proposal {
  const proposals = propose(facts, settings);
  expect(proposals.map(({ name }) => name)).toHaveLength(1);
  return proposals[0]!;
}

function scaleOf({ spec }: Proposal): Extract<Step, { action: "ScaleOwner" }>["scaleOwner"] {
  const step = spec.steps.find((one) => one.action === "ScaleOwner");
  if (step === undefined) throw new Error(`no ScaleOwner in ${spec.steps.map(({ action }) => action).join(" ")}`);
  return step.scaleOwner;
}

test("propose suspends a Job none of whose pods has started, with the line that takes it back", () => {
  const { name, spec } = only(runawayJob());
  expect([name, spec.cause, spec.purpose, spec.subject]).toEqual([
    "stop-shop-1",
    "RunawayWorkload",
    "StopSource",
    { namespace: "shop", shape: "Job/nightly" },
  ]);
  expect(spec.steps.map(({ id, action }) => `${id} ${action}`)).toEqual(["1 ScaleOwner", "2 Verify"]);
  expect(spec.steps[0]).toMatchObject({
    scaleOwner: { kind: "Job", namespace: "shop", name: "nightly", uid: "uid-nightly", way: "Suspend" },
    kubectl: [
      `kubectl -n shop patch job nightly --type=merge -p '{"spec":{"suspend":true}}'`,
      "kubectl -n shop get job/nightly -o wide",
      `kubectl -n shop patch job nightly --type=merge -p '{"spec":{"suspend":false}}'`,
    ],
  });
  expect(spec.summary).toContain("200 pods of Job shop/nightly do not start");
  expect(spec.evidence[0]).toMatchObject({ value: 200, detail: "Job shop/nightly" });
  const decision = parseDecision(stored({ name, spec }));
  expect(decision !== undefined && isPlanIntact(decision)).toBe(true);
});

test("propose scales a Job and a Deployment to what has started, and says why", () => {
  expect(scaleOf(only(runawayJob({}, 40)))).toMatchObject({
    ...{ kind: "Job", way: "Scale", from: 500, to: 40 },
    why: "40 of its pods have started and stay; 200 have not",
  });
  const web = only(runawayDeployment());
  expect(scaleOf(web)).toMatchObject({ kind: "Deployment", way: "Scale", from: 300, to: 60 });
  expect(web.spec.steps[0]?.kubectl).toEqual([
    "kubectl -n shop scale deployment/web --replicas=60",
    "kubectl -n shop get deployment/web -o wide",
    "kubectl -n shop scale deployment/web --replicas=300",
  ]);
  const none = runawayDeployment({ pods: ownedPods("ReplicaSet/web-6f9c", 300) });
  expect(scaleOf(only(none))).toMatchObject({ to: 1, why: expect.stringContaining("one is enough") as string });
});

test("propose suspends a CronJob with its Jobs that have not started, and leaves those alone that have", () => {
  const facts = runawayCronJob();
  const pods = [...facts.pods, ...startedPods("Job/tick-003", 1)];
  const proposal = only({ ...facts, pods });
  const change = scaleOf(proposal);
  expect(change).toMatchObject({ kind: "CronJob", name: "tick", way: "Suspend" });
  expect(change.way === "Suspend" && change.jobs?.length).toBe(59);
  expect(proposal.spec.notes.join("\n")).toContain("Job tick-003 has running pods too and is not suspended");
  expect(proposal.spec.steps[0]?.kubectl.join("\n")).toContain(".scaleOwner.jobs[*]");
});

test("propose asks a person where an autoscaler, an operator or nobody the guard knows decides about the size", () => {
  const deployment = runawayDeployment();
  const [web] = deployment.deployments;
  const marks = { above: "Rollout/web", trackedBy: "", instance: "" };
  const cases: readonly [World, string][] = [
    [
      {
        ...deployment,
        owners: { ...noOwners, autoscalers: [{ namespace: "shop", name: "h", target: "Deployment/web" }] },
      },
      "the HorizontalPodAutoscaler h sets the size of Deployment shop/web and would put it back",
    ],
    [
      { ...deployment, deployments: [{ ...web!, marks }] },
      "Rollout/web made Deployment shop/web and would put it back",
    ],
    [
      runawayDeployment({
        pods: [...ownedPods("ReplicaSet/web-7a1b", 240), ...startedPods("ReplicaSet/web-6f9c", 60)],
        events: ownedPods("ReplicaSet/web-7a1b", 20).map((pod) => sandboxEvent(pod)),
      }),
      "Deployment shop/web is in the middle of a rollout",
    ],
    [runawayJob({ owners: noOwners }), "Job shop/nightly: the guard cannot see it"],
    [runawayJob({ pods: ownedPods("StatefulSet/nightly", 200) }), "its pods end in the order of their numbers"],
    [
      runawayJob({
        pods: ownedPods("Job/nightly", 200, { namespace: "kube-system" }),
        owners: { ...noOwners, jobs: [job("nightly", { namespace: "kube-system" })] },
      }),
      "in a namespace of the system",
    ],
    [
      runawayJob({ namespaces: [{ name: "shop", labels: { "levee.dev/critical": "" } }] }),
      "the site depends on shop (label levee.dev/critical), and the guard makes nothing smaller there",
    ],
  ];
  for (const [facts, why] of cases) {
    const { spec } = only(facts);
    expect([spec.purpose, ...spec.steps.map(({ action }) => action)]).toEqual(["ByHand", "AskPerson", "Verify"]);
    expect(spec.steps[0]?.title).toContain(why);
  }
});

test("propose says so when it makes a workload smaller in a namespace that others depend on", () => {
  const dependencies = [
    { namespace: "shop", why: "webhook prices" },
    { namespace: "traefik", why: "ingress class traefik" },
  ];
  expect(only(runawayDeployment({ dependencies })).spec.notes).toContain(
    "Others depend on shop (webhook prices), and this makes a workload there smaller. To leave such a change to a person in future: kubectl label namespace shop levee.dev/critical=true",
  );
  expect(only(runawayDeployment()).spec.notes.join("\n")).not.toContain("Others depend");
});

test("propose waits for a hold where Argo CD would put a Deployment back, and notes one that it cannot see", () => {
  const facts = runawayDeployment();
  const marks = { above: "", trackedBy: "shop", instance: "" };
  const deployments = [{ ...facts.deployments[0]!, marks }];
  const { applications, projects } = outage();
  const shop = { ...applications[0]!, name: "shop", owns: [], sync: "Synced", comparisonErrorMs: 0 };
  const { spec } = only({ ...facts, deployments, applications: [shop], projects });
  expect(spec.steps.map(({ action }) => action)).toEqual(["HoldArgoApp", "ScaleOwner", "Verify"]);
  expect(spec.notes.join("\n")).toContain("Application shop would put it back at its next sync");
  expect(only({ ...facts, deployments }).spec.notes.join("\n")).toContain("which this guard cannot see");
});

test("propose makes one Decision about a workload, whose plan follows it until it is approved", () => {
  const first = only(runawayDeployment());
  const open = stored(first);
  const again = (facts: Partial<World>): readonly Proposal[] =>
    propose(runawayDeployment({ decisions: [open], nowMs: nowMs + minuteMs, ...facts }), settings);
  expect(again({})).toEqual([]);
  const [web] = runawayDeployment().deployments;
  const [newer, ...others] = again({ deployments: [{ ...web!, desired: 900 }] });
  expect(others).toEqual([]);
  expect(newer).toMatchObject({ name: first.name, replaces: open });
  expect(newer?.spec.revisions?.[0]?.change).toContain("changed: Scale Deployment shop/web from 900 to 60");
  for (const phase of ["Approved", "Running", "Paused", "Succeeded", "Rejected"] as const)
    expect(again({ decisions: [stored(first, phase)] })).toEqual([]);
  expect(again({ decisions: [stored(first, "Expired")] }).map(({ name }) => name)).toEqual(["stop-shop-2"]);
  expect(supersededBy(stored({ ...first, name: "stop-shop-2" }, "Proposed", nowMs + 1), [open])).toBe("stop-shop-1");
});

test("propose asks again about a workload whose stop was rejected after it had begun, with the numbers of now", () => {
  const first = only(runawayDeployment());
  const rejected = stored(first, "Rejected");
  const at = new Date(nowMs).toISOString();
  const begun: Decision = { ...rejected, status: { ...rejected.status!, startedAt: at, endedAt: at } };
  const more = [...runawayDeployment().pods, ...startedPods("ReplicaSet/web-6f9c", 10)];
  const again = only(runawayDeployment({ decisions: [begun], nowMs: nowMs + minuteMs, pods: more }));
  expect([again.name, scaleOf(again)]).toMatchObject(["stop-shop-2", { from: 300, to: 70 }]);
  // Before it began, a rejection is the answer.
  expect(propose(runawayDeployment({ decisions: [rejected], nowMs: nowMs + minuteMs }), settings)).toEqual([]);
});

test("propose asks again about a rejected or done workload when twenty more of its pods do not start, and not for fewer", () => {
  const first = only(runawayDeployment());
  const laterMs = nowMs + 30 * minuteMs;
  const facts = (count: number, decision: Decision): World => {
    const madeMs = nowMs + minuteMs;
    const late = ownedPods("ReplicaSet/web-6f9c", count, { createdMs: madeMs, boundMs: madeMs }).map((pod, index) => ({
      ...pod,
      name: `late-${index}`,
      uid: `late-${index}`,
    }));
    return runawayDeployment({
      decisions: [decision],
      nowMs: laterMs,
      pods: [...runawayDeployment().pods, ...late],
    });
  };
  for (const phase of ["Rejected", "Succeeded"] as const) {
    expect(propose(facts(19, stored(first, phase)), settings)).toEqual([]);
    expect(propose(facts(20, stored(first, phase)), settings).map(({ name }) => name)).toEqual(["stop-shop-2"]);
  }
  for (const phase of ["Running", "Paused"] as const)
    expect(propose(facts(20, stored(first, phase)), settings)).toEqual([]);
});

test("propose leaves a Job of Kueue to a person, because Kueue would resume it", () => {
  const { spec } = only(runawayJob({ owners: { ...noOwners, jobs: [job("nightly", { queue: "batch" })] } }));
  expect([spec.purpose, ...spec.steps.map(({ action }) => action)]).toEqual(["ByHand", "AskPerson", "Verify"]);
  expect(spec.steps[0]?.title).toContain("Kueue decides when Job shop/nightly runs (queue batch)");
  expect(spec.steps[0]?.kubectl[0]).toBe(
    `kubectl -n shop get workloads.kueue.x-k8s.io -l 'kueue.x-k8s.io/job-uid in (uid-nightly)' -o name | xargs -r -n 1 kubectl -n shop patch --type=merge -p '{"spec":{"active":false}}'`,
  );
});

test.each<[string, World]>([
  ["a Job that waits in a queue", runawayJob({ owners: { ...noOwners, jobs: [queued({ isSuspended: true })] } })],
  [
    "pods that Kueue has not let go yet",
    runawayJob({
      pods: ownedPods("Job/nightly", 200, { node: "", boundMs: 0 }),
      owners: { ...noOwners, jobs: [queued({})] },
      events: [],
    }),
  ],
  [
    "a Job whose pods Kueue admits a few at a time",
    runawayJob({
      pods: [...ownedPods("Job/nightly", 15), ...startedPods("Job/nightly", 10)],
      owners: { ...noOwners, jobs: [queued({})] },
    }),
  ],
])("propose says nothing about %s", (_what, facts) => {
  expect(propose(facts, settings)).toEqual([]);
});

function queued(changes: Partial<JobFacts>): JobFacts {
  return job("nightly", { queue: "batch", ...changes });
}

test("propose suspends a CronJob without its Jobs of Kueue, and says how a person takes those out of the queue", () => {
  const facts = runawayCronJob();
  const jobs = facts.owners!.jobs.map((one, index) => (index < 50 ? { ...one, queue: "batch" } : one));
  const { spec } = only({ ...facts, owners: { ...facts.owners!, jobs } });
  const [step] = spec.steps;
  expect(step?.action === "ScaleOwner" && step.scaleOwner.way === "Suspend" && step.scaleOwner.jobs?.length).toBe(10);
  const note = spec.notes.find((one) => one.startsWith("Kueue decides"));
  expect(note).toContain("50 of its Jobs run and would resume them");
  expect(note).toContain("(the first 12): kubectl -n shop get workloads.kueue.x-k8s.io -l ");
  expect(note).toEndWith(`'{"spec":{"active":false}}'`);
});

test("propose follows owner references: a ReplicaSet that a Deployment adopted, and one that only looks like another's", () => {
  const adopted = (name: string, above: string): World => {
    const pods = [...ownedPods(`ReplicaSet/${name}`, 240), ...startedPods(`ReplicaSet/${name}`, 60)];
    const set = { namespace: "shop", name, uid: `uid-${name}`, replicas: 300, above, trackedBy: "", instance: "" };
    const events = pods.slice(0, 10).map((pod) => sandboxEvent(pod));
    return runawayDeployment({ pods, events, owners: { ...noOwners, replicaSets: [set] } });
  };
  expect(scaleOf(only(adopted("before", "Deployment/web")))).toMatchObject({ kind: "Deployment", name: "web" });
  expect(scaleOf(only(adopted("web-6f9c", "")))).toMatchObject({ kind: "ReplicaSet", name: "web-6f9c" });
  // Its own version beside the adopted one is a rollout.
  const both = adopted("before", "Deployment/web");
  const { spec } = only({ ...both, pods: [...both.pods, ...startedPods("ReplicaSet/web-6f9c", 1)] });
  expect(spec.steps[0]?.title).toContain("is in the middle of a rollout");
});

test("isCausePresent follows the workload's own pods, and ends a plan of which another now decides", () => {
  const decision = stored(only(runawayDeployment()));
  expect(isCausePresent(decision, runawayDeployment(), settings)).toBe(true);
  const few = [...ownedPods("ReplicaSet/web-6f9c", 9), ...ownedPods("Job/other", 200)];
  expect(isCausePresent(decision, runawayDeployment({ pods: few }), settings)).toBe(false);
  const owners = { ...noOwners, autoscalers: [{ namespace: "shop", name: "h", target: "Deployment/web" }] };
  expect(isCausePresent(decision, runawayDeployment({ owners }), settings)).toBe(false);
  expect(
    isCausePresent(
      { ...decision, status: { ...decision.status!, phase: "Running" } },
      runawayDeployment({ owners }),
      settings,
    ),
  ).toBe(true);
  const cron = stored(only(runawayCronJob()));
  expect(isCausePresent(cron, runawayCronJob(), settings)).toBe(true);
  // A new leader that has not listed the owners yet does not know whose pods these are.
  const { owners: _owners, ...unread } = runawayCronJob();
  expect(isCausePresent(cron, unread, settings)).toBe(true);
});

test("an owner reference of any length and with hidden characters makes one readable Decision that stays", () => {
  const pods = ownedPods(`Work\u200bflow${"x".repeat(2_000)}/w`, 30);
  const facts = runawayJob({ pods, events: pods.map((pod) => sandboxEvent(pod)) });
  const decision = stored(only(facts));
  expect(decision.spec.steps[0]?.title).toMatch(/^Wait until a person has made Workflowx/);
  expect(Math.max(...decision.spec.steps.map(({ title }) => title.length))).toBe(1_024);
  expect(isCausePresent(decision, facts, settings)).toBe(true);
  expect(propose({ ...facts, decisions: [decision] }, settings)).toEqual([]);
});

test("propose keeps the stops of an avalanche and of a workload in one namespace apart", () => {
  const facts = outage({ owners: { ...noOwners, jobs: [job("leak", { namespace: "fc-desktop" })] } });
  const leak = ownedPods("Job/leak", 400, {
    namespace: "fc-desktop",
    boundMs: nowMs - 30 * minuteMs,
    createdMs: nowMs - 30 * minuteMs,
  });
  const quiet = [...facts.pods].filter(({ owner }) => !owner.startsWith("DaemonSet/"));
  const events = leak.slice(0, 10).map((pod) => sandboxEvent(pod));
  const both = { ...facts, daemonSets: [], pods: [...quiet, ...leak], events };
  const proposals = propose(both, settings);
  expect(proposals.map(({ name, spec }) => `${name} ${spec.cause}`)).toEqual([
    "stop-fc-desktop-1 OwnerlessPodAvalanche",
    "recover-fc-desktop-1 OwnerlessPodAvalanche",
  ]);
  const decisions = proposals.map((one) => stored(one));
  const next = propose({ ...both, decisions }, settings);
  expect(next.map(({ name, spec }) => `${name} ${spec.cause}`)).toEqual(["stop-fc-desktop-2 RunawayWorkload"]);
});

test("newlyFallen does not make the stop of one workload wait for others that do not start either", () => {
  const decision = stored(only(runawayDeployment()), "Running");
  const others = runawayDeployment({ pods: ownedPods("ReplicaSet/other-1", 5, { namespace: "else" }) });
  expect(newlyFallen(decision, others, settings)).toEqual([]);
  const [, recover] = propose(outage(), settings);
  expect(newlyFallen(stored(recover!, "Running"), others, settings)).toHaveLength(1);
});
