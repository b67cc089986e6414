import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { MemoryCalm } from "../../facts/memory-calm.ts";
import type { DaemonSetFacts, NodeViewFacts, World } from "../../facts/world.ts";
import { multus } from "../../outage.fixture.ts";
import { minuteMs, nowMs, readyPod, world } from "../../world.fixture.ts";
import { parseCalms, printCalms } from "./calm-text.ts";
import { nextCalm, watchedNow, type HeardAt } from "./memory-calm.ts";
import { proposeLower } from "./propose-lower.ts";

export const mebibyte = 2 ** 20;
export const dayMs = 86_400_000;
const nodes = ["rke2-agent1", "rke2-agent2", "rke2-agent3"];
export const at = "2026-05-01T10:00:00Z";

export const raised: DaemonSetFacts = {
  ...multus,
  ready: 3,
  containers: [{ name: "kube-multus", memoryLimit: "1Gi", memoryRequest: "512Mi" }],
  memoryMarks: {
    "kube-multus": {
      ...{ uid: multus.uid, beforeLimit: "50Mi", beforeRequest: "50Mi", limit: "1Gi", request: "512Mi" },
      ...{ at, seen: "" },
    },
  },
};

export function daemons(changes: Partial<ClusterPod> = {}): ClusterPod[] {
  return nodes.map((node) =>
    readyPod(`kube-multus-ds-${node}`, {
      ...{ namespace: "kube-system", owner: "DaemonSet/kube-multus-ds", node, createdMs: nowMs - 30 * dayMs },
      ...changes,
    }),
  );
}

export function views(atMs: number, changes: Partial<NodeViewFacts> = {}): NodeViewFacts[] {
  return nodes.map((node, index) => ({
    ...{ node, atMs, waiting: 0, running: 0, leaks: 0, oomKills: 0 },
    ...{ memoryBytes: (60 + index * 20) * mebibyte, memoryLimitBytes: 1024 * mebibyte },
    ...changes,
  }));
}

/** The cluster after the recovery: three daemons at 1Gi, of which one uses 100Mi at most. */
export function calmWorld(facts: Partial<World> = {}): World {
  const { nowMs: atMs = nowMs } = facts;
  return world({ daemonSets: [raised], pods: daemons(), nodeViews: views(atMs), ...facts });
}

/** Looks every ten minutes for so many days, and returns what is known and proposed at the end. */
export class Watch {
  calm: MemoryCalm | undefined;
  heard: HeardAt = new Map();
  nowMs = nowMs;

  days(days: number, factsAt: (timeMs: number) => Partial<World> = () => ({})): this {
    const endMs = this.nowMs + days * dayMs;
    for (; this.nowMs < endMs; this.nowMs += 10 * minuteMs) this.look(factsAt(this.nowMs));
    return this;
  }

  look(facts: Partial<World> = {}): this {
    const now = calmWorld({ nowMs: this.nowMs, ...facts });
    const [watched] = watchedNow(now, settings);
    if (watched !== undefined) this.calm = nextCalm(watched, this.calm, now, this.heard);
    return this;
  }

  /** Another guard reads what the one before has written. */
  restart(): this {
    this.calm = parseCalms(printCalms(this.calm === undefined ? [] : [this.calm]))[0];
    this.heard = new Map();
    return this;
  }

  world(facts: Partial<World> = {}): World {
    const memoryCalms = this.calm === undefined ? [] : [this.calm];
    return calmWorld({ nowMs: this.nowMs, memoryCalms, ...facts });
  }

  /** The titles of what would change. */
  proposed(facts: Partial<World> = {}): string[] {
    return proposeLower(this.world(facts), settings).flatMap(({ spec }) =>
      spec.steps.flatMap(({ action, title }) => (action === "SetMemoryLimit" ? [title] : [])),
    );
  }
}
