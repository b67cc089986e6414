import { beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../kube/client/json-fields.ts";
import type { ApiUser } from "./api-user.ts";
import { deploymentObject, simGuardNamespace, stuckPodObject, tenantNamespace } from "./cluster-objects.ts";
import { problemsAtEnd } from "./guard-end.ts";
import { GuardRules } from "./guard-rules.ts";
import { GuardWorld } from "./guard-world.ts";

const node = "node-1";
const guard: ApiUser = { account: "guard", name: "guard-0-1" };
const alice: ApiUser = { account: "person", name: "alice" };
const planHash = "sha256:plan";
const verify = {
  id: 2,
  action: "Verify",
  verify: { withinSeconds: 1_800, since: "2026-01-01T00:00:00Z", checks: [{ check: "ProbesSucceed" }] },
};

/** A cluster in which nobody does anything by himself. */
let world: GuardWorld;
let rules: GuardRules;

beforeEach(() => {
  world = new GuardWorld({
    seed: 1,
    guards: 0,
    nodes: [node],
    policies: [],
    onEvent: () => undefined,
    onWrite: (nowMs, write) => rules.written(nowMs, write),
    onReboot: () => undefined,
  });
  rules = new GuardRules(world);
});

function broken(): readonly string[] {
  return rules.broken.map(({ rule }) => rule);
}

function brokenAtEnd(): readonly string[] {
  const ours = problemsAtEnd(world, world.time.nowMs).map(({ rule }) => rule);
  return ours.filter((rule) => rule !== "guard-leads");
}

function placeDecision(name: string, steps: readonly object[], status: JsonObject): void {
  const subject = { namespace: tenantNamespace, shape: "Pod/main" };
  world.api.put("decisions", {
    metadata: { namespace: simGuardNamespace, name, uid: `uid-${name}` },
    spec: { cause: "OwnerlessPodAvalanche", purpose: "Recover", subject, planHash, steps },
    status,
  });
}

/** What the guard that leads sends. */
function change(path: string, body: object): void {
  world.server.answer(guard, { method: "PATCH", path, body: JSON.stringify(body), sentMs: world.time.nowMs });
}

describe("GuardRules", () => {
  const place = { kind: "Deployment", namespace: "kube-system", name: "traefik", uid: "uid" };

  beforeEach(() => {
    const spec = { holderIdentity: guard.name };
    world.create("leases", simGuardNamespace, { metadata: { name: "levee-guard" }, spec });
    world.create("deployments", "kube-system", deploymentObject("kube-system", "traefik", 1));
  });

  function approve(name: string, steps: readonly object[]): void {
    placeDecision(name, steps, { phase: "Running", message: "", approval: { name: `yes-${name}`, by: "alice" } });
    const word = {
      decision: name,
      decisionUID: `uid-${name}`,
      planHash,
      verdict: "Approve",
      by: { username: "alice" },
    };
    world.create("decisionapprovals", simGuardNamespace, { metadata: { name: `yes-${name}` }, spec: word }, alice);
  }

  function restart(at: string): void {
    const annotations = { "kubectl.kubernetes.io/restartedAt": at };
    change("/apis/apps/v1/namespaces/kube-system/deployments/traefik", {
      spec: { template: { metadata: { annotations } } },
    });
  }

  test("a workload that one Decision restarts a second time breaks once", () => {
    approve("first", [{ id: 1, action: "RestartWorkload", restartWorkload: place }]);
    restart("2026-01-01T00:00:00Z");
    expect(broken()).toEqual([]);
    // The answer was lost: the same write arrives again, and changes nothing.
    restart("2026-01-01T00:00:00Z");
    expect(broken()).toEqual([]);
    restart("2026-01-01T00:00:09Z");
    expect(broken()).toEqual(["once"]);
  });

  test("a workload that two Decisions restart breaks nothing", () => {
    approve("first", [{ id: 1, action: "RestartWorkload", restartWorkload: place }]);
    restart("2026-01-01T00:00:00Z");
    placeDecision("first", [], { phase: "Succeeded", message: "" });
    approve("second", [{ id: 1, action: "RestartWorkload", restartWorkload: place }]);
    restart("2026-01-01T00:10:00Z");
    expect(broken()).toEqual([]);
  });

  test("a recovery that is verified while nobody outside sees the site breaks verified", async () => {
    const verified = async (name: string, troubleMs: number): Promise<void> => {
      placeDecision(name, [verify], { phase: "Running", message: "" });
      rules.look(world.time.nowMs);
      await world.time.run(world.time.nowMs + troubleMs, () => false);
      rules.look(world.time.nowMs);
      const renewed = { holderIdentity: guard.name, renewTime: String(world.time.nowMs) };
      world.server.change({ account: "guard", name: guard.name }, "leases", `${simGuardNamespace}/levee-guard`, {
        spec: renewed,
      });
      const path = `/apis/levee.dev/v1alpha1/namespaces/${simGuardNamespace}/decisions/${name}/status`;
      change(path, { status: { phase: "Running", message: "", steps: [{ id: 2, phase: "Done", message: "" }] } });
    };
    world.server.change(alice, "deployments", "kube-system/traefik", { status: { availableReplicas: 1 } });
    await verified("calm", 100_000);
    world.fleet.prometheus.troubles.add("probe-hangs");
    await verified("soon", 60_000);
    expect(broken()).toEqual([]);
    await verified("late", 60_000);
    expect(broken()).toEqual(["verified"]);
  });
});

describe("problemsAtEnd", () => {
  test("a Decision that nobody goes on with breaks work-ends", () => {
    placeDecision("open", [], { phase: "Proposed", message: "" });
    expect(brokenAtEnd()).toEqual([]);
    placeDecision("left", [], { phase: "Approved", message: "" });
    placeDecision("stands", [], { phase: "Running", message: "", step: "1/2 RemovePods" });
    expect(brokenAtEnd()).toEqual(["work-ends", "work-ends"]);
    // One at a time: they come after it.
    placeDecision("verifies", [verify], { phase: "Running", message: "", step: "2/2 Verify" });
    expect(brokenAtEnd()).toEqual([]);
  });

  test("an avalanche that nobody is asked about breaks proposed", () => {
    const time = new Date(world.time.wallMs - 200_000).toISOString();
    for (let number = 0; number < 20; number += 1) {
      expect(brokenAtEnd()).toEqual([]);
      const pod = stuckPodObject({ namespace: tenantNamespace, name: `pod-${number}`, node, time }) as JsonObject;
      const metadata = { ...(pod["metadata"] as JsonObject), creationTimestamp: time };
      world.api.put("pods", { ...pod, metadata });
    }
    expect(brokenAtEnd()).toEqual(["proposed"]);
    placeDecision("asks", [], { phase: "Proposed", message: "" });
    expect(brokenAtEnd()).toEqual([]);
  });

  test("a node that is due without a gate, and a gate without a due node, break gates-stand", () => {
    const placeGate = (leftMs: number): void => {
      const timeOf = (ms: number): string => new Date(world.time.wallMs + ms).toISOString();
      const status = { verdict: "Deny", observedAt: timeOf(0), expiresAt: timeOf(leftMs) };
      world.api.put("rebootgates", { metadata: { name: node, namespace: "" }, status });
    };
    expect(brokenAtEnd()).toEqual([]);
    world.fleet.due.set(node, world.time.wallMs);
    expect(brokenAtEnd()).toEqual(["gates-stand"]);
    placeGate(60_000);
    expect(brokenAtEnd()).toEqual([]);
    placeGate(-60_000);
    expect(brokenAtEnd()).toEqual(["gates-stand"]);
    world.fleet.due.delete(node);
    expect(brokenAtEnd()).toEqual(["gates-stand"]);
  });

  test("a removal that counts another number of pods than it has breaks counts-true", () => {
    const step = { id: 1, action: "RemovePods", targets: [{ name: "a" }, { name: "b" }, { name: "c" }] };
    const told = (counts: object): JsonObject => ({
      phase: "Succeeded",
      message: "",
      steps: [{ id: 1, phase: "Done", message: "", ...counts }],
    });
    placeDecision("removes", [step], told({ removed: 1, gone: 1, leftAlone: ["tenant-a/c: it runs"] }));
    expect(brokenAtEnd()).toEqual([]);
    placeDecision("removes", [step], told({ removed: 2, gone: 2 }));
    expect(brokenAtEnd()).toEqual(["counts-true"]);
    placeDecision("removes", [step], told({ removed: 1 }));
    expect(brokenAtEnd()).toEqual(["counts-true"]);
  });

  test("a cluster whose guards do not lead breaks guard-leads", () => {
    expect(problemsAtEnd(world, 0).map(({ rule }) => rule)).toEqual(["guard-leads"]);
  });
});
