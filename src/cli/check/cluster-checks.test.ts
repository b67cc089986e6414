import { describe, expect, test } from "bun:test";
import { minuteMs, nowMs, outagePods, stuckPod } from "../../guard/world.fixture.ts";
import { propose } from "../../guard/decide/propose.ts";
import type { Decision } from "../../guard/decision/decision.ts";
import { defaultGuardSettings } from "../../guard/facts/guard-settings.ts";
import { timeText } from "../../guard/json-values.ts";
import { emptyBudget } from "../../guard/act/removal/removal-budget.ts";
import { multus, outage } from "../../guard/outage.fixture.ts";
import type { DaemonMetrics } from "../cluster/daemon-metrics.ts";
import { metricsOf } from "../../wire/metric-lines.ts";
import { cniDaemonsOf } from "../cluster/project.ts";
import { isRefusable } from "../cluster/refusable-pod.ts";
import type { PodSeen, Snapshot } from "../cluster/snapshot.ts";
import { isWell, statusText } from "../cluster/status/status-text.ts";
import { statusView } from "../cluster/status/status-view.ts";
import type { Category, ClusterLine } from "./cluster-line.ts";
import { clusterText, clusterValue, shortText } from "./cluster-text.ts";
import { cniCategory, nodeCategory } from "./cni-lines.ts";
import { decisionCategory, guardCategory } from "./guard-lines.ts";
import { apiCategory, installCategory } from "./install-lines.ts";
import { podCategory } from "./pod-lines.ts";

const nothing: DaemonMetrics = { nodes: new Map(), guards: new Map() };
const refused = { why: 'Cannot GET x: the API server answered 403 (pods is forbidden: User "bob")', status: 403 };

function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    nowMs,
    namespace: "levee-system",
    version: { value: { text: "v1.34.5", minor: 34 } },
    nodes: { value: [{ name: "n1", isReady: true, isLinux: true }] },
    namespaces: { value: [] },
    pods: { value: [] },
    daemonSets: { value: [{ ...multus, part: "multus", desired: 3, ready: 3 }] },
    siteNeeds: { value: { dependencies: [], told: undefined } },
    guard: { value: { namespace: "levee-system", name: "levee-guard", desired: 2, available: 2 } },
    lease: { value: { holder: "g-1", renewedMs: nowMs - 2_000, durationSeconds: 15, transitions: 4 } },
    policies: { value: [] },
    definitions: { value: [] },
    decisions: { value: { decisions: [], unread: [] } },
    approvers: { value: [{ kind: "Group", name: "sre" }] },
    gates: { value: [] },
    mayAct: { value: true },
    budget: { value: emptyBudget },
    calms: { value: [] },
    usage: { value: [] },
    ...changes,
  };
}

function seen(pods: readonly ReturnType<typeof stuckPod>[]): Snapshot["pods"] {
  return { value: pods.map((pod): PodSeen => ({ ...pod, isRefusable: pod.owner === "" })) };
}

function metrics(node: string, text: string): DaemonMetrics {
  return { nodes: new Map([[node, { value: metricsOf(text) }]]), guards: new Map() };
}

function line({ lines }: Category, code: string): ClusterLine {
  return lines.find((one) => one.code === code)!;
}

describe("cniCategory", () => {
  test.each([
    [40, "ok"],
    [42, "warning"],
    [49, "failed"],
  ] as const)("takes %i of 50 MiB, by the daemon's own word, for %s", (mebibytes, state) => {
    const text = `# HELP x\nlevee_memory_working_set_bytes ${mebibytes * 2 ** 20}\nlevee_memory_limit_bytes ${50 * 2 ** 20}\n`;
    expect(line(cniCategory(snapshot(), metrics("n1", text)), "LVE0402").state).toBe(state);
  });

  test("uses metrics.k8s.io for Multus, and says so when it has no figures", () => {
    const pod = stuckPod("kube-multus-ds-a", {
      namespace: "kube-system",
      owner: "DaemonSet/kube-multus-ds",
      node: "n1",
    });
    const usage = { namespace: "kube-system", pod: pod.name, container: "kube-multus", memoryBytes: 49 * 2 ** 20 };
    const found = cniCategory(snapshot({ pods: seen([pod]), usage: { value: [usage] } }), nothing);
    expect(line(found, "LVE0402")).toMatchObject({
      state: "failed",
      evidence: { "kube-system/kube-multus-ds (kube-multus) on n1": "49Mi of 50Mi (98 %)" },
    });
    expect(line(cniCategory(snapshot(), nothing), "LVE0402").detail).toStartWith("not known: ");
  });

  test("fails without daemons, with too few, and after a kill; names nodes that cannot be asked", () => {
    expect(line(cniCategory(snapshot({ daemonSets: { value: [] } }), nothing), "LVE0401").state).toBe("failed");
    const few = snapshot({ daemonSets: { value: [{ ...multus, part: "multus" }] } });
    expect(line(cniCategory(few, nothing), "LVE0401").evidence).toEqual({
      "kube-system/kube-multus-ds": "Multus, 1 of 3 ready",
    });
    const away: DaemonMetrics = { nodes: new Map([["n9", { why: "no route", status: 503 }]]), guards: new Map() };
    expect(line(cniCategory(snapshot(), away), "LVE0404")).toMatchObject({
      state: "warning",
      evidence: { n9: "no route" },
    });
  });
});

test("nodeCategory tells who waits for a reboot, and warns after a day", () => {
  const since = (ms: number): string =>
    `levee_node_reboot_required{node="n1"} 1\nlevee_node_reboot_required_since_timestamp_seconds{node="n1"} ${(nowMs - ms) / 1_000}\n`;
  expect(line(nodeCategory(snapshot(), metrics("n1", since(25 * 60 * minuteMs))), "LVE0502")).toMatchObject({
    state: "warning",
    evidence: { n1: "for 1d1h" },
  });
  expect(line(nodeCategory(snapshot(), metrics("n1", since(60 * minuteMs))), "LVE0502").state).toBe("ok");
  const reason = { code: "FiringAlert", message: "", sinceMs: 0, object: "", remedy: "" } as const;
  const times = { observedAtMs: nowMs, expiresAtMs: nowMs + minuteMs, rebootRequiredSinceMs: nowMs - 60 * minuteMs };
  const deny = { node: "n2", verdict: "Deny", reasons: [reason, reason], exceptions: [], ...times } as const;
  const blocked = snapshot({ gates: { value: [deny] } });
  // A daemon that does not answer hides no gate.
  expect(line(nodeCategory(blocked, nothing), "LVE0502").evidence).toEqual({ n2: "for 1h, blocked by FiringAlert ×2" });
  const both = statusView(
    { snapshot: blocked, metrics: metrics("n1", since(25 * 60 * minuteMs)), categories: [] },
    { value: {} },
  );
  expect(statusText(both, nowMs, (_, words) => words)).toContain(
    "Reboots      2 nodes waiting: levee gate why NODE\n             n1 for 1d1h\n             n2 for 1h, blocked by FiringAlert ×2\n",
  );
  expect(line(nodeCategory(snapshot(), nothing), "LVE0502").detail).toBe("not known: only Levee's daemon reports it");
});

describe("guardCategory", () => {
  test("tells how calm a raised memory limit is, and warns when nobody tells what is used", () => {
    const calm = {
      ...{ key: "u/kube-multus", limit: "1Gi", sinceMs: nowMs - 60 * minuteMs, coveredMs: nowMs, kills: {} },
      ...{ peakBytes: 1, peakNode: "n1", broken: "", disturbedMs: 0 },
    };
    const found = (one: typeof calm): ReturnType<typeof line> =>
      line(guardCategory(snapshot({ calms: { value: [one] } }), nothing), "LVE0307");
    expect(found(calm)).toMatchObject({
      state: "ok",
      detail: "1 raised limit",
      evidence: { "kube-multus at 1Gi": "without pressure for 1h" },
    });
    expect(found({ ...calm, coveredMs: 0, broken: "Prometheus cannot be asked: no route" })).toMatchObject({
      state: "warning",
      detail: "1 of 1 raised limits: nobody tells what the daemon uses",
      evidence: { "kube-multus at 1Gi": "stays: Prometheus cannot be asked: no route" },
    });
  });

  test("fails for a Lease that lapsed, a breaker that is open and a view that is old; warns when no person may approve", () => {
    const old = {
      value: metricsOf('levee_guard_leader 1\nlevee_guard_view_last_event_age_seconds{resource="pods"} 200\n'),
    };
    const found = guardCategory(
      snapshot({
        lease: { value: { holder: "g-1", renewedMs: nowMs - 20_000, durationSeconds: 15, transitions: 4 } },
        budget: { value: { ...emptyBudget, breaker: "2001 pods of a" } },
        approvers: { value: [{ kind: "ServiceAccount", name: "robot" }] },
        mayAct: { value: false },
      }),
      { nodes: new Map(), guards: new Map([["levee-guard-1", old]]) },
    );
    expect(found.lines.map(({ code, state }) => `${code} ${state}`)).toEqual([
      "LVE0301 ok",
      "LVE0302 failed",
      "LVE0303 failed",
      "LVE0304 warning",
      "LVE0305 failed",
      "LVE0307 ok",
      "LVE0306 warning",
    ]);
    expect(line(found, "LVE0303").evidence).toEqual({ pods: "no news for 3m20s" });
    expect(line(found, "LVE0306").detail).toContain("service accounts only");
  });

  test("says of a leader that cannot be asked who it is, and does not deny it", () => {
    const detail = (changes: Partial<Snapshot>, guards = nothing.guards): string =>
      line(guardCategory(snapshot(changes), { ...nothing, guards }), "LVE0303").detail;
    expect(detail({})).toBe("not known: g-1 leads, but levee-system has no guard pod to ask");
    expect(detail({}, new Map([["p", { value: metricsOf("levee_guard_leader 0\n") }]]))).toContain(
      "g-1 leads, but no guard pod",
    );
    expect(detail({ lease: { value: undefined } })).toBe("not known: no guard leads");
  });

  test("is one warning where there is no guard", () => {
    expect(guardCategory(snapshot({ guard: { value: undefined } }), nothing).lines).toHaveLength(2);
  });
});

describe("podCategory", () => {
  const outage = snapshot({ pods: seen(outagePods(219)) });

  test("names backlog, avalanche and owners by namespace and client", () => {
    const found = podCategory(outage);
    expect(line(found, "LVE0601")).toMatchObject({ state: "failed", detail: "1 namespace" });
    expect(Object.values(line(found, "LVE0603").evidence)[0]).toStartWith("219 pods on 3 nodes");
    expect(line(found, "LVE0602").evidence["fc-desktop"]).toStartWith("219 pods: 219 of a client that says ");
  });

  test("says where Deny is in force already, and leaves out where it is allowed", () => {
    const labelled = (value: string): Evidence =>
      line(
        podCategory({
          ...outage,
          namespaces: { value: [{ name: "fc-desktop", labels: { "levee.dev/ownerless-pods": value } }] },
        }),
        "LVE0604",
      ).evidence;
    expect(labelled("deny")["fc-desktop"]).toEndWith("the namespace already denies new ones");
    expect(labelled("allow")).toEqual({});
  });

  test("is not known when pods cannot be seen, and the API server's words stand once", () => {
    const blind = snapshot({ pods: refused });
    expect(line(podCategory(blind), "LVE0601").detail).toBe("not known: this user may not see it (LVE0103)");
    expect(line(apiCategory(blind), "LVE0103")).toMatchObject({
      state: "warning",
      evidence: { pods: 'pods is forbidden: User "bob"' },
    });
    const approver = { pods: refused, nodes: refused };
    expect(line(apiCategory(snapshot(approver)), "LVE0103").state).toBe("warning");
    expect(line(apiCategory(snapshot({ ...approver, decisions: refused })), "LVE0103").state).toBe("failed");
  });
});

type Evidence = Readonly<Record<string, string>>;

test("cniDaemonsOf takes what the guard was told, else the usual ones", () => {
  const deployment = (args: readonly string[]): object => ({
    spec: { template: { spec: { containers: [{ command: ["levee", "guard"], args }] } } },
  });
  expect(cniDaemonsOf(undefined)).toEqual([
    "kube-system/kube-multus-ds",
    "kube-system/rke2-multus",
    "levee-system/levee",
  ]);
  expect(cniDaemonsOf(deployment(["--cni-daemon", "net/multus/main", "--cni-daemon=a/b/c"]))).toEqual([
    "net/multus",
    "a/b",
  ]);
});

test.each([
  [{}, true],
  [{ ownerReferences: [{ uid: "u", controller: true }] }, false],
  [{ ownerReferences: [{ uid: "u" }] }, true],
  [{ ownerReferences: [{ uid: "", controller: true }] }, true],
  [{ annotations: { "levee.dev/ownerless-reason": "debugging" } }, false],
  [{ annotations: { "levee.dev/ownerless-reason": "" } }, true],
  [{ annotations: { "helm.sh/hook": "test" } }, true],
  [{ annotations: { "kubernetes.io/config.mirror": "h" } }, false],
])("isRefusable is the policy's own rule: %j is %p", (metadata, expected) => {
  expect(isRefusable({ metadata })).toBe(expected);
});

test("decisionCategory says how many wait for a person, and warns of those that have waited for long", () => {
  const waiting = (agesMs: readonly number[]): Category => {
    const decisions = agesMs.map((ageMs, index): Decision => ({
      apiVersion: "levee.dev/v1alpha1",
      kind: "Decision",
      metadata: { name: `d-${index}`, namespace: "levee-system" },
      spec: propose(outage(), defaultGuardSettings)[0]!.spec,
      status: { phase: "Proposed", message: "Waits", fence: 1, leader: "g", since: timeText(nowMs - ageMs) },
    }));
    return decisionCategory(snapshot({ decisions: { value: { decisions, unread: [] } } }));
  };
  expect(line(waiting([]), "LVE0701")).toMatchObject({ detail: "" });
  const young = line(waiting([minuteMs, minuteMs, 2 * minuteMs, 4 * minuteMs]), "LVE0701");
  expect(young).toMatchObject({ detail: "4 Decisions waiting, none for more than five minutes" });
  expect(Object.keys(young.evidence)).toEqual(["d-0", "d-1", "d-2", "d-3"]);
  const old = line(waiting([minuteMs, 6 * minuteMs]), "LVE0701");
  expect(old).toMatchObject({ state: "warning", detail: "1 Decision waiting for more than five minutes" });
});

describe("clusterText", () => {
  const paint = (_colour: string, text: string): string => text;
  const categories = [podCategory(snapshot({ pods: seen(outagePods(30)) })), decisionCategory(snapshot())];

  test("has categories, signs, codes, evidence, a hint and the result", () => {
    const text = clusterText(categories, { paint, isWide: false });
    expect(text).toStartWith("pods\n----\n‼ no namespace has a backlog: 1 namespace  LVE0601\n    fc-desktop: 30 pods");
    expect(text).toContain("\n    hint: levee decisions list, then first approve");
    expect(text).toEndWith("Status check results are ×   4 passed, 1 warning, 1 failed\n");
    expect(shortText(categories, paint).split("\n")).toHaveLength(4);
    expect(clusterValue(categories)).toMatchObject({ version: 1, success: false });
  });

  test("keeps tenants' control characters out", () => {
    const pods = seen(outagePods(30).map((pod) => ({ ...pod, clientSays: "\u001b[31mkind\u202e" })));
    expect(clusterText([podCategory(snapshot({ pods }))], { paint, isWide: true })).not.toMatch(/[\u001b\u202e]/u);
  });
});

test("statusText fits on a screen and says what is wrong first", () => {
  const paint = (_colour: string, text: string): string => text;
  const bad = snapshot({ pods: seen(outagePods(219)), lease: { value: undefined } });
  const categories = [guardCategory(bad, nothing), cniCategory(bad, nothing), podCategory(bad), decisionCategory(bad)];
  const view = statusView({ snapshot: bad, metrics: nothing, categories }, { value: { MultusOOMLoop: 3, Other: 1 } });
  const text = statusText(view, nowMs, paint);
  expect(isWell(view)).toBe(false);
  expect(text).toStartWith("Levee        × 3 failed");
  expect(text).toContain("Pods         × fc-desktop: an avalanche of 219 ownerless pods on 3 nodes\n");
  expect(text).toContain("Alerts       MultusOOMLoop ×3, Other\n");
  expect(text).toContain("Guard        × 2 of 2 replicas, no guard leads\n");
  expect(text.split("\n").length).toBeLessThan(40);
});

test("statusText says what it could not look at, and shows the rest", () => {
  const away = { why: "Cannot list nodes: it does not answer", status: undefined };
  const blind = snapshot({ nodes: away, daemonSets: away, pods: away });
  const view = statusView({ snapshot: blind, metrics: nothing, categories: [] }, { value: {} });
  const text = statusText(view, nowMs, (_, words) => words);
  for (const label of ["Daemons", "Nodes", "Pods"])
    expect(text).toMatch(new RegExp(`^${label} +not known: Cannot list nodes: it does not answer$`, "mu"));
  expect(text).toMatch(/^Decisions +none open$/mu);
  expect(text).not.toContain("neither Levee nor Multus is installed");
});

test("statusText shows an approver the Decisions, and one line for all that they may not see", () => {
  const refused = { why: "Cannot list nodes: alice may not", status: 403 };
  const parts = { nodes: refused, daemonSets: refused, pods: refused, lease: refused, policies: refused };
  const seen = snapshot(parts);
  const categories = [apiCategory(seen), installCategory(seen)];
  const text = statusText(
    statusView({ snapshot: seen, metrics: nothing, categories }, refused),
    nowMs,
    (_, words) => words,
  );
  expect(text).toMatch(
    /^Rights +this user may not see daemons, nodes, guard, pods: kubectl create clusterrolebinding NAME --clusterrole=levee-viewer --user=USER$/mu,
  );
  expect(text).toMatch(/^Decisions +none open$/mu);
  expect(text).not.toContain("not known");
  expect(text).not.toMatch(/^(?:Daemons|Nodes|Guard|Pods|Alerts) /mu);
});
