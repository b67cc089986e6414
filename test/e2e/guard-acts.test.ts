/** What the guard does once a person has approved, and every way in which it stops, on a real API server. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { StepRunner } from "../../src/guard/act/step-runner.ts";
import type { RemovePodsStep } from "../../src/guard/decision/step.ts";
import { ActingGuard } from "./guard/guard-acting.ts";
import { mergePatch, type PolicyServer } from "./policy-server.ts";
import { decisions, makePod, startGuardServer, untilAnswer, untilPoliciesCount } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import { until, untilNextSecond } from "./until.ts";

const { group, beforeAll, beforeEach, afterEach, afterAll } = needsServer("guard-acts");

const access = join(import.meta.dir, "../../deploy/guard/access.yaml");
const pods = 24;

let server: PolicyServer;
let guard: ActingGuard;

beforeAll(async () => {
  server = await startGuardServer();
  await untilPoliciesCount(server);
}, 120_000);

afterAll(() => server.stop());

beforeEach(async () => {
  guard = new ActingGuard(server);
  await until("everything is listed", () => (guard.facts.isCurrent() ? true : undefined));
});

afterEach(async () => {
  await guard.close();
  // A test that takes the right to act away may have failed before it gave it back.
  server.must(["apply", "-f", access]);
});

group("the guard removes pods", () => {
  test("pods are removed by UID after a dry run of all of them, and what else lives there stays", async () => {
    await guard.avalanche("plain", pods);
    await makePod(server, { name: "debug", namespace: "plain", node: "n1" }, { phase: "Pending" });
    const decision = await guard.removal("plain");
    let triedMs = 0;
    guard.afterwards = ({ method, body }) => {
      if (method === "DELETE" && triedMs === 0 && body?.includes("dryRun") === true) {
        triedMs = Date.now();
        // The pod of the dry run is there, and not even leaving.
        expect(guard.pods("plain")).toContain("rd-0");
      }
    };
    expect(await guard.carryOut(decision)).toBe("Succeeded");
    expect(triedMs).toBeGreaterThan(0);
    expect(guard.pods("plain")).toEqual(["debug"]);
    const { status } = guard.find("recover-plain-1");
    expect(status).toMatchObject({
      phase: "Succeeded",
      step: "1/1 RemovePods",
      fence: 1,
      approval: { by: "alice" },
      steps: [{ id: 1, phase: "Done", dryRun: "Passed", verified: true, removed: pods, gone: 0, leftAlone: [] }],
    });
    expect(status?.startedAt).toBeString();
    const events = server.must(["-n", "levee-system", "get", "events", "-o", "jsonpath={.items[*].reason}"]);
    expect(events).toContain("StepDone");
    expect(events).toContain("DecisionSucceeded");
  }, 120_000);
});

group("a person stops the guard in the middle", () => {
  test("taking the right to act away stops it before the next request, and giving it back and a word go on", async () => {
    await guard.avalanche("unbound", pods);
    const decision = await guard.removal("unbound");
    guard.afterRemovals(5, () => void server.must(["delete", "clusterrolebinding", "levee-guard-acts"]));
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(guard.removals().length).toBe(5);
    expect(guard.pods("unbound").filter((name) => name.endsWith("*")).length).toBe(5);
    const { status } = guard.find("recover-unbound-1");
    expect(status?.message).toContain("levee-guard-acts");
    expect(status?.intent?.uids.length).toBe(10);
    server.must(["apply", "-f", access]);
    guard.afterwards = () => undefined;
    await untilNextSecond();
    await guard.say("recover-unbound-1", "Resume");
    expect(await guard.carryOut(await guard.untilPhase("recover-unbound-1", "Running"))).toBe("Succeeded");
    expect(guard.pods("unbound")).toEqual([]);
  }, 120_000);

  test("taking it away is heard before something is written elsewhere, too", async () => {
    await guard.avalanche("elsewhere", pods);
    const decision = await guard.removal("elsewhere");
    const none = (): Promise<undefined> => Promise.resolve(undefined);
    let pushes = 0;
    const push: StepRunner<RemovePodsStep> = {
      precondition: none,
      rehearse: none,
      async perform(_step, context) {
        await context.mayWrite();
        pushes += 1;
        server.must(["delete", "clusterrolebinding", "levee-guard-acts"]);
        // Another API server, or a cache of this one, may be a moment behind.
        await until("the right is gone", () => (guard.mayRemovePods("elsewhere") ? undefined : true));
        await context.mayWrite();
        pushes += 1;
        return {};
      },
      check: none,
    };
    expect(await guard.carryOut(decision, { runners: { RemovePods: push } })).toBe("Paused");
    server.must(["apply", "-f", access]);
    expect(pushes).toBe(1);
    expect(guard.find("recover-elsewhere-1").status?.message).toContain("the guard has no right to act");
  }, 120_000);

  test("withdrawing the approval stops it before the next request", async () => {
    await guard.avalanche("withdrawn", pods);
    const decision = await guard.removal("withdrawn");
    const approval = decision.status?.approval?.name ?? "";
    guard.afterRemovals(3, () => void server.must(["-n", "levee-system", "delete", "decisionapproval", approval]));
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(guard.removals().length).toBe(3);
    expect(guard.find("recover-withdrawn-1").status?.message).toContain("Its approval was withdrawn");
  }, 120_000);

  test("withdrawing it in the foreground stops it without a garbage collector, and so does deleting the Decision", async () => {
    await guard.avalanche("collected", pods);
    const decision = await guard.removal("collected");
    const word = ["decisionapproval", decision.status?.approval?.name ?? "", "--cascade=foreground", "--wait=false"];
    guard.afterRemovals(3, () => void server.must(["-n", "levee-system", "delete", ...word]));
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(guard.removals().length).toBe(3);
    expect(guard.find("recover-collected-1").status?.message).toContain("it is being deleted");
    await guard.avalanche("deleted", pods);
    const next = await guard.removal("deleted");
    guard.afterRemovals(3, () => void server.must(["-n", "levee-system", "delete", "decision", "recover-deleted-1"]));
    expect(await guard.carryOut(next)).toBeUndefined();
    expect(guard.removals().length).toBe(6);
  }, 120_000);

  test.each(["Pause", "Reject"] as const)(
    "%s stops it before the next request",
    async (verdict) => {
      const namespace = `said-${verdict.toLowerCase()}`;
      await guard.avalanche(namespace, pods);
      const decision = await guard.removal(namespace);
      guard.afterRemovals(4, () => guard.say(`recover-${namespace}-1`, verdict, { reason: "wrong namespace" }));
      expect(await guard.carryOut(decision)).toBe(verdict === "Pause" ? "Paused" : "Rejected");
      expect(guard.removals().length).toBe(4);
    },
    120_000,
  );
});

group("the guard leaves alone what has changed", () => {
  test("a pod that was replaced, and one that has started, are left alone and reported", async () => {
    await guard.avalanche("changed", pods);
    const decision = await guard.removal("changed");
    server.must(["-n", "changed", "delete", "pod", "rd-3", "--force", "--grace-period=0"]);
    await guard.stuckPod("changed", "rd-3");
    server.must(["-n", "changed", "delete", "pod", "rd-4", "--force", "--grace-period=0"]);
    const path = "/api/v1/namespaces/changed/pods/rd-20/status";
    // In the middle of the first batch, after all were looked at.
    guard.afterRemovals(2, async () => {
      const body = { status: { phase: "Running", podIP: "10.0.0.1" } };
      await server.ask({ method: "PATCH", path, body, type: mergePatch });
    });
    expect(await guard.carryOut(decision)).toBe("Succeeded");
    expect(guard.pods("changed").toSorted()).toEqual(["rd-20", "rd-3"]);
    expect(guard.find("recover-changed-1").status?.steps?.[0]).toMatchObject({
      removed: pods - 3,
      gone: 1,
      leftAlone: ["changed/rd-20: it has started", "changed/rd-3: another pod has its name now"],
    });
  }, 120_000);

  test("a pod that starts between the look and the request is refused by the policy, and left alone", async () => {
    await guard.avalanche("late", pods);
    const decision = await guard.removal("late");
    const started = { status: { phase: "Running", podIP: "10.0.0.1" } };
    let looks = 0;
    guard.afterwards = async ({ method, path }) => {
      if (method !== "GET" || !path.endsWith("/pods/rd-5")) return;
      looks += 1;
      // The rehearsal's, the batch's, and the one just before it is removed.
      if (looks !== 3) return;
      await server.ask({ method: "PATCH", path: `${path}/status`, body: started, type: mergePatch });
    };
    expect(await guard.carryOut(decision)).toBe("Succeeded");
    expect(guard.pods("late")).toEqual(["rd-5"]);
  }, 120_000);
});

group("the guard pauses", () => {
  test("a dry run that an admission policy refuses pauses, and nothing is removed", async () => {
    await guard.avalanche("refused", pods);
    const decision = await guard.removal("refused");
    server.must(["apply", "-f", "-"], denyDeletes("refused"));
    try {
      await until("it is in force", () => {
        const args = ["-n", "refused", "delete", "pod", "rd-0", "--dry-run=server"];
        return server.kubectl(args).stderr.includes("nobody deletes here") ? true : undefined;
      });
      expect(await guard.carryOut(decision)).toBe("Paused");
      expect(guard.removals()).toEqual([]);
      expect(guard.pods("refused").length).toBe(pods);
      const { status } = guard.find("recover-refused-1");
      expect(status?.steps?.[0]).toMatchObject({ dryRun: "Refused", phase: "Failed" });
      expect(status?.message).toContain("nobody deletes here");
    } finally {
      server.must(["delete", "-f", "-"], denyDeletes("refused"));
    }
  }, 120_000);

  test("the breaker of the day stops it, outlives the leader, and a person closes it", async () => {
    await guard.avalanche("broken", pods);
    const decision = await guard.removal("broken");
    guard.spend("broken", 1_985);
    expect(await guard.carryOut(decision)).toBe("Paused");
    // One batch of ten fits.
    expect(guard.removals().filter((path, at, all) => all.indexOf(path) === at).length).toBe(10);
    expect(guard.find("recover-broken-1").status?.message).toContain("the breaker is open");
    guard.term = { identity: "guard-b", fence: 2, isHeld: () => true };
    await untilNextSecond();
    await guard.say("recover-broken-1", "Resume");
    expect(await guard.carryOut(await guard.untilPhase("recover-broken-1", "Running"))).toBe("Paused");
    await untilNextSecond();
    await guard.say("recover-broken-1", "ResetBreaker");
    await guard.resetBreaker();
    await guard.say("recover-broken-1", "Resume");
    expect(await guard.carryOut(await guard.untilPhase("recover-broken-1", "Running"))).toBe("Succeeded");
    expect(guard.pods("broken")).toEqual([]);
  }, 180_000);

  test("the source is stopped by the label once no more pods come, and a source that goes on pauses it", async () => {
    await guard.avalanche("source", pods);
    const stop = await guard.stop("source");
    // A person's pods are not the policy's business.
    let made = 0;
    const source = setInterval(() => void guard.stuckPod("source", `late-${(made += 1)}`), 5_000);
    try {
      expect(await guard.carryOut(stop)).toBe("Paused");
    } finally {
      clearInterval(source);
    }
    expect(guard.find("stop-source-1").status?.message).toContain("more pods of this template came within 30 s");
    await guard.say("stop-source-1", "Resume");
    expect(await guard.carryOut(await guard.untilPhase("stop-source-1", "Running"))).toBe("Succeeded");
    const labels = server.must(["get", "namespace", "source", "-o", "jsonpath={.metadata.labels}"]);
    expect(labels).toContain('"levee.dev/ownerless-pods":"deny"');
    expect(guard.pods("source").length).toBe(pods + made);
  }, 240_000);
});

group("a leader that is not the leader any more", () => {
  test("a leader that loses its term in the middle of a batch stops there, and the next one goes on, each pod once", async () => {
    await guard.avalanche("lost", pods);
    const decision = await guard.removal("lost");
    let isHeld = true;
    guard.term = { ...guard.term, isHeld: () => isHeld };
    guard.afterRemovals(6, () => {
      isHeld = false;
    });
    const failure = await guard.carryOut(decision).catch((thrown: unknown) => thrown);
    expect(String(failure)).toContain("does not lead");
    expect(guard.removals().length).toBe(6);
    expect(guard.find("recover-lost-1").status).toMatchObject({ phase: "Running", intent: { batch: 1 } });
    guard.afterwards = () => undefined;
    guard.term = { identity: "guard-b", fence: 2, heardMs: Date.now() - 20_000, isHeld: () => true };
    await guard.round();
    const taken = guard.find("recover-lost-1");
    expect(taken.status).toMatchObject({ phase: "Running", leader: "guard-b", fence: 2, takeovers: 1 });
    expect(taken.status?.message).toContain("The leader changed while it was running (guard-a before); goes on");
    // The one before wakes up and believes that it leads: it finds the work of another, and does nothing.
    guard.term = { identity: "guard-a", fence: 1, isHeld: () => true };
    expect(await guard.carryOut({ ...decision })).toBeUndefined();
    expect(guard.removals().length).toBe(6);
    guard.term = { identity: "guard-b", fence: 2, isHeld: () => true };
    expect(await guard.carryOut(taken)).toBe("Succeeded");
    expect(guard.pods("lost")).toEqual([]);
    const { steps = [], audit = [] } = guard.find("recover-lost-1").status ?? {};
    // The first leader had no time to write down its six.
    expect(steps).toMatchObject([{ removed: pods - 6, gone: 6, leftAlone: [] }]);
    expect(audit.map(({ leader, what }) => `${leader} ${what.split(":")[0]}`).slice(-3)).toEqual([
      "guard-a Running",
      "guard-b Running",
      "guard-b Succeeded",
    ]);
    const asked = guard.removals();
    // Those that hang are asked once more, by force.
    for (const path of new Set(asked)) expect(asked.filter((one) => one === path).length).toBeLessThanOrEqual(2);
  }, 120_000);

  test("the next leader goes on with nothing whose approval is gone, or after nobody led for long", async () => {
    await guard.avalanche("left", pods);
    const decision = await guard.removal("left");
    let isHeld = true;
    guard.term = { ...guard.term, isHeld: () => isHeld };
    guard.afterRemovals(2, () => {
      isHeld = false;
    });
    await guard.carryOut(decision).catch(() => undefined);
    guard.term = { identity: "guard-b", fence: 2, heardMs: Date.now() - 3_600_000, isHeld: () => true };
    const paused = await guard.untilPhase("recover-left-1", "Paused");
    expect(paused.status?.message).toContain("nobody has led for 60 minutes; look at what was done, then resume");
    await untilNextSecond();
    await guard.say("recover-left-1", "Resume");
    await guard.untilPhase("recover-left-1", "Running");
    server.must(["-n", "levee-system", "delete", "decisionapproval", decision.status?.approval?.name ?? ""]);
    guard.term = { identity: "guard-c", fence: 3, heardMs: Date.now(), isHeld: () => true };
    const withdrawn = await guard.untilPhase("recover-left-1", "Paused");
    expect(withdrawn.status?.message).toContain("Its approval was withdrawn");
    expect(guard.removals().length).toBe(2);
  }, 120_000);

  test("a status that is refused ends it at once: a later leader has written in the middle of a batch", async () => {
    await guard.avalanche("fenced", pods);
    const decision = await guard.removal("fenced");
    guard.afterRemovals(2, () => {
      const body = JSON.stringify({ status: { fence: 9, leader: "guard-z", phase: "Paused", message: "later" } });
      const args = ["-n", "levee-system", "patch", "decision", "recover-fenced-1", "--subresource=status"];
      server.must([...args, "--type=merge", "-p", body, "--as=system:serviceaccount:levee-system:levee-guard"]);
    });
    const failure = await guard.carryOut(decision).catch((thrown: unknown) => thrown);
    expect(String(failure)).toContain("an older leader may not write");
    // At most the batch whose intent was written before is finished.
    expect(guard.removals().length).toBeLessThanOrEqual(20);
    expect(guard.find("recover-fenced-1").status).toMatchObject({ fence: 9, phase: "Paused" });
  }, 120_000);
});

group("the guard does nothing without a cause, an author or a stopped source", () => {
  test("nothing is removed when the cause is gone before the step", async () => {
    await guard.avalanche("healed", pods);
    const decision = await guard.removal("healed");
    for (let index = 0; index < pods - 3; index += 1) {
      const path = `/api/v1/namespaces/healed/pods/rd-${index}/status`;
      await server.ask({ method: "PATCH", path, body: { status: { phase: "Running" } }, type: mergePatch });
    }
    await until("it is seen", () =>
      [...guard.facts.world().pods].filter((pod) => pod.namespace === "healed" && pod.phase === "Running").length ===
      pods - 3
        ? true
        : undefined,
    );
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(guard.removals()).toEqual([]);
    expect(guard.find("recover-healed-1").status?.message).toContain("its cause is gone");
  }, 120_000);

  test("only the guard makes a Decision or writes its status, and one that was slipped in is never carried out", async () => {
    await guard.avalanche("forged", pods);
    const { spec } = await guard.removal("forged");
    const refused = "only the guard makes Decisions";
    const made = {
      apiVersion: "levee.dev/v1alpha1",
      kind: "Decision",
      metadata: { name: "slipped-in", namespace: "levee-system" },
      spec,
    };
    const admin = await server.ask({ method: "POST", path: decisions, body: made });
    expect([admin.code, admin.text]).toEqual([403, expect.stringContaining(refused) as string]);
    const status = { phase: "Running", fence: 1, leader: "guard-a" };
    const path = `${decisions}/recover-forged-1`;
    const written = await server.ask({ method: "PATCH", path: `${path}/status`, body: { status }, type: mergePatch });
    expect([written.code, written.text]).toEqual([403, expect.stringContaining(refused) as string]);
    const labels = { metadata: { labels: { seen: "yes" } } };
    expect(await server.ask({ method: "PATCH", path, body: labels, type: mergePatch })).toMatchObject({ code: 200 });
    // A person who may delete the binding can slip a Decision in and put the binding back.
    const binding = "levee-decisions-come-from-the-guard";
    server.must(["delete", "validatingadmissionpolicybinding", binding]);
    await untilAnswer(server, { method: "POST", path: decisions, body: made }, ({ code }) => code === 201);
    server.must(["apply", "-f", join(import.meta.dir, "../../deploy/policies/decisions.yaml")]);
    await untilPoliciesCount(server);
    await guard.say("slipped-in", "Approve");
    const ended = await guard.untilPhase("slipped-in", "Expired");
    expect(ended.status?.message).toContain("anyone may have created it");
    expect(await guard.carryOut(ended)).toBeUndefined();
    // So are those of before: they are asked again.
    await guard.untilPhase("recover-forged-1", "Expired");
  }, 120_000);

  test("nothing is removed while the source is not stopped", async () => {
    await guard.avalanche("open", pods);
    const decision = await guard.removal("open");
    server.must(["label", "namespace", "open", "levee.dev/ownerless-pods-"]);
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(guard.removals()).toEqual([]);
    expect(guard.find("recover-open-1").status?.message).toContain("approve its stop first");
  }, 120_000);
});

function denyDeletes(namespace: string): string {
  const match = {
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["pods"] }],
  };
  const policy = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "nobody-deletes" },
    spec: { matchConstraints: match, validations: [{ expression: "false", message: "nobody deletes here" }] },
  };
  const binding = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "nobody-deletes" },
    spec: {
      policyName: "nobody-deletes",
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } },
    },
  };
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: [policy, binding] });
}
