import type { GateReason } from "../wire/gate-codes.ts";
import type { RebootGate } from "../wire/reboot-gate.ts";
import type { ClusterPod } from "./facts/cluster-pod.ts";
import type { EventFacts, World } from "./facts/world.ts";
import { noOwners, ownedPods, sandboxEvent } from "./runaway.fixture.ts";
import { minuteMs, nowMs, world } from "./world.fixture.ts";

const hourMs = 60 * minuteMs;

/** The runtime has refused the pod its name for twenty minutes, in favour of one sandbox. */
export function reservedEvent(pod: ClusterPod, changes: Partial<EventFacts> = {}): EventFacts {
  const sandbox = "ab".repeat(32);
  const lastMs = nowMs - minuteMs;
  return sandboxEvent(pod, {
    ...{ isNameReserved: true, sandbox, firstMs: lastMs - 20 * minuteMs, lastMs, count: 60 },
    ...changes,
  });
}

/** Kubelet has tried to remove the pod's sandbox for twenty minutes. */
export function removalEvent(pod: ClusterPod, reason: "FailedKillPod" | "SandboxChanged"): EventFacts {
  const { isNameReserved: _name, ...event } = reservedEvent(pod, { reason });
  return event;
}

/** 24 pods of a Deployment on one node whose names stay reserved, as in the incident. */
export function reservedNames(facts: Partial<World> = {}, count = 24): World {
  const pods = ownedPods("ReplicaSet/web-6f9c", count, { node: "rke2-agent1" });
  return world({
    pods,
    deployments: [{ namespace: "shop", name: "web", desired: 24, available: 0, uid: "uid-web" }],
    owners: noOwners,
    events: pods.map((pod) => reservedEvent(pod)),
    ...facts,
  });
}

export function reason(changes: Partial<GateReason> = {}): GateReason {
  return {
    code: "FiringAlert",
    message: "the alert NodeFilesystemFull fires",
    sinceMs: nowMs - 30 * hourMs,
    object: "Alert/NodeFilesystemFull",
    remedy: "free the disk, or levee gate except",
    ...changes,
  };
}

/** A node that has waited for 30 hours because of an alert. */
export function heldGate(node: string, changes: Partial<RebootGate> = {}): RebootGate {
  return {
    node,
    verdict: "Deny",
    reasons: [reason()],
    rebootRequiredSinceMs: nowMs - 30 * hourMs,
    observedAtMs: nowMs,
    expiresAtMs: nowMs + 2 * minuteMs,
    exceptions: [],
    ...changes,
  };
}

export function lateReboots(
  gates: readonly RebootGate[] = [heldGate("k8s-master")],
  facts: Partial<World> = {},
): World {
  return world({ rebootGates: gates, ...facts });
}
