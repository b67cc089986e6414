import { expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { expectPods } from "./expect-pods.ts";
import type { LiveView } from "../../view/view.ts";
import type { PodChange, PodFacts } from "../../view/pod-facts.ts";

const critical = 2_000_001_000;

function pod(uid: string, changes: Partial<PodFacts> = {}): PodFacts {
  return {
    namespace: "edge" as Namespace,
    name: "ingress" as PodName,
    uid: uid as PodUid,
    annotations: {},
    priority: critical,
    isStatic: false,
    phase: "Pending",
    hostNetwork: false,
    isDeleting: false,
    ...changes,
  };
}

/** The calls that admission gets for these changes. */
function told(changes: readonly PodChange[], isSynced = true): readonly string[] {
  const lines: string[] = [];
  let tell: (change: PodChange) => void = () => undefined;
  const live: Partial<LiveView> = {
    isSynced: () => isSynced,
    onPodChange: (listener) => {
      tell = listener;
      return () => undefined;
    },
  };
  expectPods(live as LiveView, {
    prioritize: (uid) => void lines.push(`prioritize ${uid}`),
    expect: (uid, priority) => void lines.push(`expect ${uid} ${priority}`),
    unexpect: (uid) => void lines.push(`unexpect ${uid}`),
  });
  for (const change of changes) tell(change);
  return lines;
}

test("expectPods expects a pod that comes to the node, until it runs", () => {
  const running = pod("u-1", { phase: "Running" });
  expect(
    told([
      { before: undefined, now: pod("u-1") },
      { before: pod("u-1"), now: pod("u-1", { annotations: { changed: "yes" } }) },
      { before: pod("u-1"), now: running },
      { before: running, now: undefined },
    ]),
  ).toEqual(["prioritize u-1", `expect u-1 ${critical}`, "unexpect u-1"]);
});

test("expectPods no longer expects a pod that is deleted, gone or replaced before it ran", () => {
  for (const now of [undefined, pod("u-1", { isDeleting: true }), pod("u-2", { phase: "Running" })])
    expect(told([{ before: pod("u-1"), now }])).toContain("unexpect u-1");
});

test("expectPods does not expect pods that need no attachment, or were there before", () => {
  for (const changes of [{ hostNetwork: true }, { isStatic: true }, { phase: "Running" }, { isDeleting: true }])
    expect(told([{ before: undefined, now: pod("u-1", changes) }])).toEqual(["prioritize u-1"]);
  expect(told([{ before: undefined, now: pod("u-1") }], false)).toEqual(["prioritize u-1"]);
});
