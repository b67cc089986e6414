/** The steps that hold, raise memory, list and verify, and every way in which they stop, on a real API server. */
import { expect, test } from "bun:test";
import { argoOwners } from "../../src/guard/decide/argo-owners.ts";
import { restartSteps } from "../../src/guard/decide/restart/restart-steps.ts";
import type { StepDraft } from "../../src/guard/decide/step-draft.ts";
import type { Decision, DecisionPhase, StepStatus } from "../../src/guard/decision/decision.ts";
import { findStuckWorkloads } from "../../src/guard/detect/stuck-workloads.ts";
import type { KubeRequest } from "../../src/kube/client/api.ts";
import type { ActingGuard } from "./guard/guard-acting.ts";
import { multusPath, must, verifyDraft, type BrokenCni } from "./guard/guard-repairing.ts";
import { makePod } from "./guard/guard-server.ts";
import { repairTests } from "./guard/repair-bench.ts";
import type { PolicyServer } from "./policy-server.ts";
import { until, untilNextSecond } from "./until.ts";

/** No pod waits here, so it is the next size above the one with which the daemon was killed. */
const raised = "64Mi";
const slices = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices";

let server: PolicyServer;
let guard: ActingGuard;
let cni: BrokenCni;

const { group } = repairTests("guard-repairs", (bench) => {
  ({ server, guard, cni } = bench);
});

function steps({ metadata }: Decision): readonly StepStatus[] {
  return guard.find(metadata.name).status?.steps ?? [];
}

function message({ metadata }: Decision): string {
  return guard.find(metadata.name).status?.message ?? "";
}

/** Calls `act` once, after the first request that is like this one. */
function after(isIt: (request: KubeRequest) => boolean, act: () => Promise<void> | void): void {
  let isDone = false;
  guard.afterwards = async (request) => {
    if (isDone || !isIt(request)) return;
    isDone = true;
    await act();
  };
}

const isTrial = ({ method, path }: KubeRequest): boolean => method === "PATCH" && path === `${multusPath}?dryRun=All`;
const isChange = ({ method, path }: KubeRequest): boolean => method === "PATCH" && path === multusPath;

async function resume(decision: Decision): Promise<DecisionPhase | undefined> {
  const { name } = decision.metadata;
  // A verdict from the same second as the pause would not count.
  await untilNextSecond();
  await guard.say(name, "Resume");
  return guard.carryOut(await guard.untilPhase(name, "Running"));
}

/** The server takes a policy up, and puts it away, a moment after it is written. */
async function isFrozen(): Promise<boolean> {
  const body = { metadata: { labels: { a: "b" } } };
  const type = "application/merge-patch+json";
  const { code } = await server.ask({ method: "PATCH", path: `${multusPath}?dryRun=All`, body, type });
  return code === 422 || code === 403;
}

/** A Deployment that is well and a Service whose one endpoint is not. Their controllers are not run. */
async function shop(): Promise<void> {
  server.must(["create", "namespace", "shop"]);
  server.must(["-n", "shop", "create", "deployment", "web", "--image=i"]);
  const status = { replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1, observedGeneration: 1 };
  await must(server, "PATCH", "/apis/apps/v1/namespaces/shop/deployments/web/status", { status });
  server.must(["-n", "shop", "create", "service", "clusterip", "web", "--tcp=80"]);
  const metadata = { name: "web-1", namespace: "shop", labels: { "kubernetes.io/service-name": "web" } };
  const endpoints = [{ addresses: ["10.0.0.9"], conditions: { ready: false } }];
  const body = { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata, addressType: "IPv4", endpoints };
  await must(server, "POST", slices, body);
}

group("the guard raises a memory limit", () => {
  test("a person's hold by the line in the status lets the limit rise, the list is written, and everything is verified", async () => {
    await cni.report({ numberReady: 1 });
    const checks = [{ check: "DaemonSetReady", namespace: "kube-system", name: "kube-multus-ds" }] as const;
    const decision = await cni.decide([verifyDraft(checks)]);
    after(isChange, () => cni.report({}));
    const carried = guard.carryOut(decision);
    // The line is written first; the look that finds nothing held, and says so, comes after it.
    await until("it waits for the hold", () => message(decision).includes("Waits for its check") || undefined);
    expect(message(decision)).toContain("Argo CD may sync Application argocd/infra-multus by itself");
    const line = steps(decision)[0]?.lines?.[0] ?? "";
    expect(cni.limit()).toBe("50Mi");
    cni.run(line);
    expect(await carried).toBe("Succeeded");
    expect(cni.limit()).toBe(raised);
    expect(steps(decision)).toMatchObject([
      { phase: "Done", verified: true },
      { phase: "Done", dryRun: "Passed", verified: true },
      { phase: "Done", message: "No workload is stuck", lines: [] },
      { phase: "Done", message: "Its check holds" },
    ]);
    expect(
      guard.sent.filter(({ method, path }) => method !== "GET" && path.startsWith(multusPath)).map(({ path }) => path),
    ).toEqual([`${multusPath}?dryRun=All`, multusPath]);
  }, 120_000);

  test("an Application of the same name elsewhere is not taken for the owner, whatever it lists, until a project lets it be there", async () => {
    await cni.application("team-x", {});
    await until("both are seen", () => (guard.facts.world().applications.length === 2 ? true : undefined));
    const owners = (): readonly string[] => {
      const world = guard.facts.world();
      return argoOwners(world.daemonSets[0]!, world)
        .map(({ application: { namespace } }) => namespace)
        .toSorted();
    };
    expect(owners()).toEqual(["argocd"]);
    const project = "/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects/default";
    await must(server, "PATCH", project, { spec: { sourceNamespaces: ["team-*"] } });
    await until("it may be there", () => (owners().length === 2 ? true : undefined));
    expect((await cni.decide()).spec.steps.map(({ action }) => action)).toEqual([
      "HoldArgoApp",
      "HoldArgoApp",
      "SetMemoryLimit",
      "ListStuck",
    ]);
    await must(server, "PATCH", project, { spec: { sourceNamespaces: null } });
  }, 120_000);

  test("without a hold it pauses when the time is over, and goes on once a person has made it and says so", async () => {
    const decision = await cni.decide([], 3);
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(message(decision)).toMatch(
      /its check does not hold after 3 s: Argo CD may sync .* no open window denies it/,
    );
    expect(steps(decision)[0]).toMatchObject({
      phase: "Failed",
      lines: [expect.stringContaining("patch appproject default")],
    });
    cni.hold();
    after(isChange, () => cni.report({}));
    expect(await resume(decision)).toBe("Succeeded");
    expect(cni.limit()).toBe(raised);
  }, 120_000);

  test.each([
    ["after the first look", 1, "the dry run was refused: "],
    [
      "between a look and the dry run, which answers 422,",
      2,
      "the dry run was refused: it has changed since it was read: ",
    ],
    ["between a look and the change, which answers 422,", 3, "Cannot raise the limit: "],
  ])(
    "a limit that another writer sets %s stays, and is named",
    async (_when, look, words) => {
      cni.hold();
      const decision = await cni.decide();
      let looks = 0;
      const isIt = ({ method, path }: KubeRequest): boolean => {
        if (method === "GET" && path === multusPath) looks += 1;
        return looks === look;
      };
      after(isIt, () => cni.setLimit("256Mi"));
      expect(await guard.carryOut(decision)).toBe("Paused");
      expect(message(decision)).toContain(
        `${words}the memory limit of kube-multus in DaemonSet kube-system/kube-multus-ds is 256Mi, not 50Mi`,
      );
      expect(cni.limit()).toBe("256Mi");
      expect(guard.sent.some(isChange)).toBe(false);
    },
    120_000,
  );
});

group("the guard pauses a repair", () => {
  test("a DaemonSet that was replaced is not changed", async () => {
    cni.hold();
    const decision = await cni.decide();
    await cni.replace();
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(message(decision)).toContain("was replaced");
    expect(cni.limit()).toBe("50Mi");
  }, 120_000);

  test("a policy that refuses is heard in the dry run, with its words", async () => {
    cni.hold();
    const decision = await cni.decide();
    server.must(["apply", "-f", "-"], JSON.stringify(frozen()));
    await until("the policy counts", async () => (await isFrozen()) || undefined);
    expect(await guard.carryOut(decision)).toBe("Paused");
    server.must(["delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "change-freeze"]);
    await until("the policy counts no more", async () => !(await isFrozen()) || undefined);
    expect(message(decision)).toMatch(/the dry run was refused: .*nothing changes this week/);
    expect(steps(decision)[1]).toMatchObject({ phase: "Failed", dryRun: "Refused" });
    expect(guard.sent.some(isChange)).toBe(false);
  }, 120_000);

  test("a hold that ends before the change pauses before it; one that ends after it pauses the wait", async () => {
    cni.hold();
    const before = await cni.decide();
    // The hold's own step reads the project three times; the next look is the one before the change.
    after(isTrial, () => cni.end());
    expect(await guard.carryOut(before)).toBe("Paused");
    expect(message(before)).toContain("no open window denies it");
    expect(cni.limit()).toBe("50Mi");

    cni.hold();
    const later = await cni.decide();
    after(isChange, async () => {
      await cni.report({ numberReady: 2 });
      await cni.end();
    });
    expect(await guard.carryOut(later)).toBe("Paused");
    expect(message(later)).toMatch(/Cannot wait for the new pods any longer: .* no open window denies it/);
    expect(cni.limit()).toBe(raised);
    cni.hold();
    await cni.report({});
    expect(await resume(later)).toBe("Succeeded");
    expect(guard.sent.filter(isChange).length).toBe(1);
  }, 120_000);

  test("a limit that Argo CD takes back is seen at once", async () => {
    cni.hold();
    const decision = await cni.decide();
    after(isChange, async () => {
      await cni.report({ updatedNumberScheduled: 1 });
      await cni.setLimit("50Mi");
    });
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(message(decision)).toContain(`is now 50Mi, not ${raised}`);
  }, 120_000);

  test("pods that do not become ready in time pause it, and say how many", async () => {
    cni.hold();
    const decision = await cni.decide([], 3);
    after(isChange, () => cni.report({ numberReady: 1 }));
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(message(decision)).toContain("its check does not hold after 3 s: 1 of 3 pods are ready");
  }, 120_000);

  test("a DaemonSet that is updated OnDelete is said to be so in the plan, and is not waited for without end", async () => {
    await cni.make("OnDelete");
    cni.hold();
    const decision = await cni.decide([], 3);
    expect(decision.spec.notes.join()).toContain(
      "has the update strategy OnDelete, so the new limit restarts nothing by itself",
    );
    after(isChange, () => cni.report({ updatedNumberScheduled: 0 }));
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(message(decision)).toContain("0 of 3 pods have the newest revision; its update strategy is OnDelete");
  }, 120_000);

  test("endpoints that are not ready pause the verification and are named; a person's word looks again", async () => {
    await shop();
    cni.hold();
    const checks = [
      { check: "DeploymentAvailable", namespace: "shop", name: "web" },
      { check: "EndpointsReady", namespace: "shop", name: "web" },
      { check: "ApplicationsKnown", unknownMax: 0 },
    ] as const;
    const decision = await cni.decide([verifyDraft(checks)], 4);
    after(isChange, () => cni.report({}));
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(message(decision)).toContain("1 of 3 checks do not hold: EndpointsReady shop/web: no endpoint is ready");
    await must(server, "PATCH", `${slices}/web-1`, {
      endpoints: [{ addresses: ["10.0.0.9"], conditions: { ready: true } }],
    });
    expect(await resume(decision)).toBe("Succeeded");
  }, 120_000);
});

const front = "/apis/apps/v1/namespaces/front/deployments";

/** Two Deployments with a pod each that has waited for ten minutes; one of them has a volume. */
async function stuckFront(): Promise<readonly StepDraft[]> {
  server.must(["create", "namespace", "front"]);
  const volumes = [{ name: "acme", persistentVolumeClaim: { claimName: "acme" } }];
  for (const name of ["traefik", "registry"]) {
    server.must(["-n", "front", "create", "deployment", name, "--image=i"]);
    if (name === "registry")
      await must(server, "PATCH", `${front}/${name}`, { spec: { template: { spec: { volumes } } } });
    const lastTransitionTime = new Date(Date.now() - 600_000).toISOString();
    const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime }];
    const owner = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: `${name}-1`,
      uid: crypto.randomUUID(),
      controller: true,
    };
    await makePod(
      server,
      { name: `${name}-1-x`, namespace: "front", node: "n1", owners: [owner] },
      { phase: "Pending", conditions },
    );
  }
  return await until("both are seen", () => {
    const world = guard.facts.world();
    const { steps: drafts, notes } = restartSteps(findStuckWorkloads(world), world);
    return drafts.length === 1 && notes.join().includes("Deployment front/registry") ? drafts : undefined;
  });
}

/** As the Deployment's controller would, which is not run. */
async function rolledOut(): Promise<void> {
  server.must(["-n", "front", "delete", "pod", "traefik-1-x", "--force", "--grace-period=0"]);
  const status = { replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1, observedGeneration: 99 };
  await must(server, "PATCH", `${front}/traefik/status`, { status });
}

group("the guard restarts a workload", () => {
  test("that is stuck, by its annotation alone; one with a volume is named and not restarted", async () => {
    const [draft] = await stuckFront();
    const first = await cni.decideOn([draft!], 3);
    // Nobody replaces the pod, so the step waits in vain; a person's word looks again and does not restart again.
    expect(await guard.carryOut(first)).toBe("Paused");
    expect(message(first)).toContain("its controller has not yet seen the newest change");
    const restarted = server.must(["-n", "front", "get", "deployment", "traefik", "-o", "json"]);
    const { startedAt } = guard.find(first.metadata.name).status ?? {};
    expect((JSON.parse(restarted) as Restarted).spec.template.metadata.annotations).toEqual({
      "kubectl.kubernetes.io/restartedAt": startedAt!,
    });
    await rolledOut();
    expect(await resume(first)).toBe("Succeeded");
    const sent = guard.sent.filter(({ method, path }) => method === "PATCH" && path.startsWith(front));
    expect(sent.map(({ path }) => path)).toEqual([`${front}/traefik?dryRun=All`, `${front}/traefik`]);
    expect(steps(first)).toMatchObject([{ phase: "Done", dryRun: "Passed", verified: true }]);
  }, 120_000);

  test("but not one that started by itself meanwhile", async () => {
    const world = guard.facts.world();
    const workload = { kind: "Deployment", namespace: "front", name: "traefik", pods: [] };
    const { steps: drafts } = restartSteps([workload], world);
    const decision = await cni.decideOn(drafts, 5);
    expect(await guard.carryOut(decision)).toBe("Succeeded");
    expect(steps(decision)[0]?.message).toContain("was left alone: its pods started by themselves");
    expect(guard.sent.some(({ method, path }) => method === "PATCH" && path.startsWith(front))).toBe(false);
  }, 120_000);
});

interface Restarted {
  readonly spec: {
    readonly template: { readonly metadata: { readonly annotations: Readonly<Record<string, string>> } };
  };
}

/** A policy of another owner that forbids every change in kube-system. */
function frozen(): object {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const metadata = { name: "change-freeze" };
  const rule = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["daemonsets"] };
  const validations = [{ expression: "false", message: "nothing changes this week" }];
  const policy = {
    ...{ apiVersion, kind: "ValidatingAdmissionPolicy", metadata },
    spec: { failurePolicy: "Fail", matchConstraints: { resourceRules: [rule] }, validations },
  };
  const binding = {
    ...{ apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata },
    spec: { policyName: "change-freeze", validationActions: ["Deny"] },
  };
  return { apiVersion: "v1", kind: "List", items: [policy, binding] };
}
