import type { ClusterPod } from "./facts/cluster-pod.ts";
import type { JobFacts, OwnerFacts } from "./facts/owner-facts.ts";
import type { EventFacts, World } from "./facts/world.ts";
import { minuteMs, nowMs, readyPod, stuckPod, world } from "./world.fixture.ts";

export const noOwners: OwnerFacts = { jobs: [], cronJobs: [], replicaSets: [], autoscalers: [] };
const marks = { above: "", trackedBy: "", instance: "" };

export function job(name: string, changes: Partial<JobFacts> = {}): JobFacts {
  return { namespace: "shop", name, uid: `uid-${name}`, parallelism: 500, isSuspended: false, ...marks, ...changes };
}

/** `count` pods of this owner on three nodes, bound twenty minutes ago and not starting. */
export function ownedPods(owner: string, count: number, changes: Partial<ClusterPod> = {}): ClusterPod[] {
  const name = owner.slice(owner.indexOf("/") + 1);
  return Array.from({ length: count }, (_, index) => {
    const madeMs = nowMs - 20 * minuteMs + index * 100;
    return stuckPod(`${name}-${String(index).padStart(4, "0")}`, {
      namespace: "shop",
      owner,
      shape: "",
      clientSays: "",
      node: `rke2-agent${(index % 3) + 1}`,
      createdMs: madeMs,
      boundMs: madeMs,
      ...changes,
    });
  });
}

export function startedPods(owner: string, count: number): ClusterPod[] {
  const name = owner.slice(owner.indexOf("/") + 1);
  return Array.from({ length: count }, (_, index) =>
    readyPod(`${name}-ready-${index}`, { namespace: "shop", owner, node: `rke2-agent${(index % 3) + 1}` }),
  );
}

/** Kubelet's word that the pod's sandbox could not be created. */
export function sandboxEvent(pod: ClusterPod, changes: Partial<EventFacts> = {}): EventFacts {
  return {
    namespace: pod.namespace,
    name: `${pod.name}.1`,
    reason: "FailedCreatePodSandBox",
    node: pod.node,
    podUid: pod.uid,
    count: 5,
    lastMs: nowMs - minuteMs,
    ...changes,
  };
}

/** A Job of 500 in parallel, 200 of whose pods do not start. */
export function runawayJob(facts: Partial<World> = {}, started = 0): World {
  const stuck = ownedPods("Job/nightly", 200);
  return world({
    pods: [...stuck, ...startedPods("Job/nightly", started)],
    owners: { ...noOwners, jobs: [job("nightly")] },
    events: stuck.slice(0, 10).map((pod) => sandboxEvent(pod)),
    ...facts,
  });
}

/** A CronJob that has made 60 Jobs, one each minute, and none of their pods starts. */
export function runawayCronJob(facts: Partial<World> = {}, jobs = 60): World {
  const names = Array.from({ length: jobs }, (_, index) => `tick-${String(index).padStart(3, "0")}`);
  const stuck = names.flatMap((name) => ownedPods(`Job/${name}`, 1));
  const cronJob = { namespace: "shop", name: "tick", uid: "uid-tick", isSuspended: false, ...marks };
  return world({
    pods: stuck,
    owners: {
      ...noOwners,
      jobs: names.map((name) => job(name, { above: "CronJob/tick", parallelism: 1 })),
      cronJobs: [cronJob],
    },
    events: stuck.slice(0, 10).map((pod) => sandboxEvent(pod)),
    ...facts,
  });
}

/** A Deployment of 300 of which 60 have started and 240 do not start. */
export function runawayDeployment(facts: Partial<World> = {}): World {
  const stuck = ownedPods("ReplicaSet/web-6f9c", 240);
  return world({
    pods: [...stuck, ...startedPods("ReplicaSet/web-6f9c", 60)],
    deployments: [{ namespace: "shop", name: "web", desired: 300, available: 60, uid: "uid-web", marks }],
    owners: noOwners,
    events: stuck.slice(0, 10).map((pod) => sandboxEvent(pod)),
    ...facts,
  });
}
