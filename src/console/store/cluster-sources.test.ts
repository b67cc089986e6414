import { expect, test } from "bun:test";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";
import { clusterSources } from "./cluster-sources.ts";

const followed = (resource: string, lastEventAgeMs: number | undefined): ReflectorHealth => ({
  ...{ resource, lastEventAgeMs, objects: 1, isSynced: true, lists: 1, reconnects: 0, missedEvents: 0 },
  ...{ lastError: undefined, failingSinceMs: undefined, isUnreachable: false, isForbidden: false, isAbsent: false },
});

function statesOf(...all: readonly ReflectorHealth[]): readonly unknown[] {
  const copy = { health: () => all, hasDaemons: () => false };
  const asker = { all: () => new Map(), heardMs: 0 };
  const alerts = { why: "none" };
  return clusterSources({ copy, asker, alerts, nowMs: 1_000_000 })
    .slice(0, all.length)
    .map(({ state, asOfMs }) => [state, asOfMs]);
}

test("clusterSources calls all kinds old when the server has been silent about each, although its watches look open", () => {
  expect(statesOf(followed("pods", 200_000), followed("nodes", 30_000))).toEqual([
    ["live", 1_000_000],
    ["live", 1_000_000],
  ]);
  expect(statesOf(followed("pods", 200_000), followed("nodes", 90_000), followed("events", undefined))).toEqual([
    ["stale", 910_000],
    ["stale", 910_000],
    ["stale", 910_000],
  ]);
});
