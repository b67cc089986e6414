import { expect, test } from "bun:test";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { multus, outage } from "../outage.fixture.ts";
import {
  job,
  noOwners,
  ownedPods,
  runawayCronJob,
  runawayDeployment,
  runawayJob,
  sandboxEvent,
  startedPods,
} from "../runaway.fixture.ts";
import { minuteMs, nowMs, stuckPod, world } from "../world.fixture.ts";
import { findRunaways } from "./runaway.ts";
import { findCauses } from "./cause.ts";
import { ownRunaways } from "./victims.ts";

function found(facts: World): readonly string[] {
  return findRunaways(facts, settings, new Set()).map(({ shape, members, started }) =>
    [shape, members.length, started].join(" "),
  );
}

test("findRunaways names a Job, a Deployment and a CronJob with its Jobs", () => {
  expect(found(runawayJob())).toEqual(["Job/nightly 200 0"]);
  expect(found(runawayDeployment())).toEqual(["Deployment/web 240 60"]);
  expect(found(runawayCronJob())).toEqual(["CronJob/tick 60 0"]);
});

test("findRunaways names a bare ReplicaSet, and an owner of another kind", () => {
  const pods = ownedPods("ReplicaSet/bare-1", 30);
  const events = pods.map((pod) => sandboxEvent(pod));
  const bare = {
    ...{ namespace: "shop", name: "bare-1", uid: "u", replicas: 30 },
    ...{ above: "", trackedBy: "", instance: "" },
  };
  expect(found(world({ pods, events, owners: { ...noOwners, replicaSets: [bare] } }))).toEqual([
    "ReplicaSet/bare-1 30 0",
  ]);
  const other = ownedPods("Workflow/w", 30);
  expect(found(world({ pods: other, events: other.map((pod) => sandboxEvent(pod)), owners: noOwners }))).toEqual([
    "Workflow/w 30 0",
  ]);
});

test.each<[string, World]>([
  [
    "a big rollout whose pods have waited for four minutes",
    runawayDeployment({
      pods: [
        ...ownedPods("ReplicaSet/web-6f9c", 240, { boundMs: nowMs - 4 * minuteMs }),
        ...startedPods("ReplicaSet/web-6f9c", 60),
      ],
    }),
  ],
  [
    "a rollout of which most has started",
    runawayDeployment({
      pods: [...ownedPods("ReplicaSet/web-6f9c", 50), ...startedPods("ReplicaSet/web-6f9c", 250)],
    }),
  ],
  ["a Job with high parallelism that starts well", runawayJob({}, 300)],
  ["nineteen pods", runawayJob({ pods: ownedPods("Job/nightly", 19) })],
  ["pods that wait for a volume: no sandbox is asked for", runawayJob({ events: [] })],
  [
    "pods that wait for a volume, nine of which a sandbox was refused in passing",
    runawayJob({ events: ownedPods("Job/nightly", 9).map((pod) => sandboxEvent(pod)) }),
  ],
  [
    "a Job that somebody has suspended",
    runawayJob({ owners: { ...noOwners, jobs: [job("nightly", { isSuspended: true })] } }),
  ],
  ["owners that cannot be read", { ...runawayJob(), owners: undefined } as unknown as World],
  [
    "a DaemonSet, which has one pod for each node",
    world({
      pods: ownedPods("DaemonSet/agent", 100),
      owners: noOwners,
      events: ownedPods("DaemonSet/agent", 100).map((pod) => sandboxEvent(pod)),
    }),
  ],
  [
    "one of many workloads on nodes that start nothing",
    runawayJob({
      pods: [
        ...ownedPods("Job/nightly", 30),
        ...Array.from({ length: 100 }, (_, index) =>
          stuckPod(`other-${index}`, { namespace: `n${index}`, owner: `ReplicaSet/r${index}`, shape: "" }),
        ),
      ],
    }),
  ],
  ["CNI daemons that are down for another reason", runawayJob({ daemonSets: [{ ...multus, ready: 0 }] })],
  ["a CronJob whose two Jobs wait", runawayCronJob({}, 2)],
])("findRunaways leaves alone %s", (_what, facts) => {
  expect(found(facts)).toEqual([]);
});

test("findRunaways sees a runaway through the daemons that it has killed, and by the calls that wait", () => {
  const killed = stuckPod("multus-1", {
    ...{ namespace: "kube-system", owner: "DaemonSet/kube-multus-ds", shape: "", phase: "Running", everRan: true },
    oomKilledMs: nowMs - minuteMs,
  });
  const pods = [...runawayJob().pods, killed];
  expect(found(runawayJob({ events: [], daemonSets: [{ ...multus, ready: 0 }], pods }))).toHaveLength(1);
  const view = { node: "rke2-agent1", atMs: nowMs, waiting: 60, running: 8, leaks: 0 };
  expect(found(runawayJob({ events: [], nodeViews: [view] }))).toHaveLength(1);
});

test("ownRunaways leaves out a workload that an avalanche keeps from starting, and no pod has two causes", () => {
  const victims = ownedPods("ReplicaSet/web-6f9c", 120, { boundMs: nowMs - 10 * minuteMs });
  const facts = outage({
    pods: [...outage().pods, ...victims],
    deployments: [{ namespace: "shop", name: "web", desired: 120, available: 0, uid: "uid-web" }],
    owners: noOwners,
  });
  const causes = findCauses(facts, settings);
  expect(causes.runaways.map(({ shape }) => shape)).toEqual(["Deployment/web"]);
  expect(ownRunaways(causes, facts, settings)).toEqual([]);
  const uids = [...causes.avalanches, ...causes.runaways].flatMap(({ members }) => members.map(({ uid }) => uid));
  expect(new Set(uids).size).toBe(uids.length);
});
