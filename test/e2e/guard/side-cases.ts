import { expect } from "bun:test";
import { join } from "node:path";
import type { Decision, StepStatus } from "../../../src/guard/decision/decision.ts";
import type { PodTarget, RemovePodsStep } from "../../../src/guard/decision/step.ts";
import { alice, guardUser } from "./guard-server.ts";
import { mergePatch } from "../policy-server.ts";
import { pause, until, untilNextSecond } from "../until.ts";
import { desktopPod } from "./operator.ts";
import { writeText } from "./decision-desk.ts";
import { avalancheNames, rolloutPods, spared, type Avalanche, type SideCluster } from "./side-cluster.ts";

const policies = join(import.meta.dir, "../../../deploy/policies");
const approvalPolicy = "levee-approval-names-its-author";
/** Two looks of the guard, and some room. */
const twoLooksMs = 22_000;

const secondStop = "stop-second-source-1";

function recovery(namespace: Avalanche): string {
  return `recover-${namespace}-1`;
}

/** In the order in which they are tried. */
export const sideCases: readonly (readonly [name: string, act: (cluster: SideCluster) => Promise<void>])[] = [
  ["a healthy rollout of 300 pods proposes nothing", proposesForTheStuckOnly],
  ["an approval for another hash does not count", refusesAnotherHash],
  ["the guard's own account cannot approve", refusesTheGuardsAccount],
  ["an approval that was forged while the binding was absent does not count", refusesAForgery],
  ["a target that was replaced by a pod of the same name, or has started, is left alone", leavesMovedTargetsAlone],
  ["a dry run that an admission policy refuses pauses before the first pod", heedsARefusedDryRun],
  [
    "a cause that is gone before the removal stops the plan; the stop of a source waits for no other plan",
    stopsWhenTheCauseIsGone,
  ],
  ["a leader is lost in the middle of a batch: its successor goes on, and none is removed twice", survivesALostLeader],
  ["the API server is restarted in the middle of a batch, and none is removed twice", survivesAServerRestart],
  ["the breaker opens, and only a person closes it", opensTheBreaker],
  ["a source that the label does not hold is stopped by a quota that leaves room for the others", stopsByQuota],
];

/** Every avalanche has its Decision, and nothing that is well has one. */
async function proposesForTheStuckOnly(cluster: SideCluster): Promise<void> {
  const { desk } = cluster;
  await cluster.rollOut();
  const expected = [...avalancheNames.map(recovery), secondStop].toSorted();
  const names = async (): Promise<readonly string[]> => (await desk.all()).map(({ metadata }) => metadata.name);
  await until(
    "every avalanche has its Decision",
    async () => {
      const found = await names();
      if (expected.every((name) => found.includes(name))) return true;
      throw new Error(`there are ${found.join(" ")}`);
    },
    // The five minutes, and the minute in which it must be named.
    { timeoutMs: 360_000, everyMs: 1_000 },
  );
  expect((await names()).toSorted()).toEqual(expected);
  for (const namespace of ["shop", "bulk"]) expect((await cluster.podNames(namespace)).length).toBe(rolloutPods);
  cluster.beginSpared();
}

async function refusesAnotherHash({ desk }: SideCluster): Promise<void> {
  const name = recovery("odd-approvals");
  const planHash = `sha256:${"0".repeat(64)}`;
  // The API server cannot know which hash is right; the guard does.
  expect(await desk.try(name, "Approve", { planHash })).toMatchObject({ code: 201 });
  const { status } = await desk.until(
    name,
    "says why it does not count",
    ({ status: now }) => now?.message.includes("it is for the plan") === true,
  );
  expect(status?.phase).toBe("Proposed");
}

async function refusesTheGuardsAccount({ desk, server }: SideCluster): Promise<void> {
  const name = recovery("odd-approvals");
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard"]).trim();
  // By its own rights it may not even make one; given every right, policies refuse it, in its own name and in others'.
  expect(await desk.try(name, "Approve", { token, username: guardUser })).toMatchObject({ code: 403 });
  const binding = ["clusterrolebinding", "too-much"];
  server.must(["create", ...binding, "--clusterrole=cluster-admin", `--user=${guardUser}`]);
  for (const username of [guardUser, alice.user]) {
    const answer = await desk.try(name, "Approve", { token, username });
    expect([answer.code, answer.text]).toEqual([403, expect.stringContaining("ValidatingAdmissionPolicy") as string]);
  }
  server.must(["delete", ...binding]);
  expect((await desk.one(name)).status?.phase).toBe("Proposed");
}

async function refusesAForgery({ desk, server }: SideCluster): Promise<void> {
  const name = recovery("odd-approvals");
  const mallory = { user: "mallory", group: "system:masters" };
  server.must(["delete", "validatingadmissionpolicybinding", approvalPolicy]);
  await until("the policy counts no more", async () =>
    (await desk.try(name, "Approve", { as: mallory, username: alice.user })).code === 201 ? true : undefined,
  );
  server.must(["apply", "-f", join(policies, "approval.yaml")]);
  await pause(twoLooksMs);
  const { status } = await desk.one(name);
  expect([status?.phase, status?.message]).toEqual(["Proposed", expect.stringContaining("may be forged") as string]);
  expect(await desk.guardDeeds()).toEqual([]);
  // The same plan is carried out once a person approves it, long enough after the policy was made.
  await desk.say(name, "Approve");
  await desk.untilPhase(name, "Succeeded", 90_000);
}

/** One is replaced, one has started, one is gone: the rest is removed, and these are reported. */
async function leavesMovedTargetsAlone(cluster: SideCluster): Promise<void> {
  const { desk, server, kubelet } = cluster;
  const name = recovery("moved-targets");
  const [replaced, started, gone] = targetsOf(await desk.one(name));
  if (replaced === undefined || started === undefined || gone === undefined) throw new Error("It has no targets");
  await remove(cluster, replaced);
  const body = desktopPod({ name: replaced.name }, replaced.node);
  const path = `/api/v1/namespaces/${replaced.namespace}/pods`;
  expect(await server.ask({ method: "POST", path, body })).toMatchObject({ code: 201 });
  await kubelet.startAnyway(started.namespace, started.name);
  await remove(cluster, gone);
  await desk.say(name, "Approve");
  const step = removalStatus(await desk.untilPhase(name, "Succeeded", 120_000));
  expect(step).toMatchObject({ phase: "Done", verified: true, removed: 21, gone: 1 });
  const told = (step?.leftAlone ?? []).join("\n");
  expect(told).toContain(replaced.name);
  expect(told).toContain(started.name);
  const left = await cluster.podNames("moved-targets");
  expect(left.toSorted()).toEqual([replaced.name, started.name].toSorted());
}

/** While it waits for Argo CD's hold the pods go away by themselves: nothing is removed, and nothing else is done. */
async function stopsWhenTheCauseIsGone(cluster: SideCluster): Promise<void> {
  const { desk, server } = cluster;
  const name = recovery("gone-cause");
  const before = await desk.one(name);
  expect(before.spec.steps.slice(0, 3).map(({ action }) => action)).toEqual([
    "HoldArgoApp",
    "RemovePods",
    "SetMemoryLimit",
  ]);
  await desk.say(name, "Approve");
  await desk.until(name, "waits for the hold", ({ status }) => status?.step === "1/5 HoldArgoApp");
  await desk.say(secondStop, "Approve");
  await desk.until(
    secondStop,
    "is being carried out meanwhile",
    ({ status }) => status?.steps?.[0]?.dryRun === "Passed",
  );
  await Promise.all(targetsOf(before).map((target) => remove(cluster, target)));
  const window = { kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["multus"], manualSync: true };
  const path = "/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects/default";
  await server.ask({ method: "PATCH", path, body: { spec: { syncWindows: [window] } }, type: mergePatch });
  const { status } = await desk.untilPhase(name, "Paused");
  expect([status?.step, status?.message]).toEqual(["2/5 RemovePods", expect.stringContaining("Pending") as string]);
  expect(await deedsIn(cluster, "gone-cause")).toEqual([]);
  expect(await deedsIn(cluster, "kube-system")).toEqual([]);
}

/** Killed in the middle of a batch: its successor goes on under the same approval, and no pod is asked to go twice. */
async function survivesALostLeader(cluster: SideCluster): Promise<void> {
  const { desk, guards, kubelet } = cluster;
  const namespace = "lost-leader";
  const name = recovery(namespace);
  kubelet.holdDeletions(namespace, true);
  await desk.say(name, "Approve");
  await untilDeeds(cluster, namespace);
  const leader = guards.leader();
  const killedMs = performance.now();
  await guards.leading().stop("SIGKILL");
  const batch = (await deedsIn(cluster, namespace)).length;
  expect(batch).toBeLessThanOrEqual(10);
  await until("another leads", () => (["", leader].includes(guards.leader()) ? undefined : true), {
    timeoutMs: 30_000,
  });
  const awayMs = performance.now() - killedMs;
  // The next recovery waits for this one, so its pods must be able to go whatever comes out below.
  kubelet.holdDeletions(namespace, false);
  expect(awayMs).toBeLessThan(20_000);
  const { status } = await desk.untilPhase(name, "Succeeded", 150_000);
  expect(status).toMatchObject({ takeovers: 1, approval: { by: "alice" } });
  await expectEachOnce(cluster, namespace, { count: 30 });
}

/** Killed and started again in the middle of a batch. Who led may have lost the lease over it: then the next one goes on. */
async function survivesAServerRestart(cluster: SideCluster): Promise<void> {
  const { desk, server, kubelet } = cluster;
  const namespace = "server-restart";
  const name = recovery(namespace);
  kubelet.holdDeletions(namespace, true);
  await desk.say(name, "Approve");
  await untilDeeds(cluster, namespace);
  await server.stopApiServer("SIGKILL");
  await server.startApiServer();
  kubelet.holdDeletions(namespace, false);
  await desk.untilPhase(name, "Succeeded", 180_000);
  // Requests are sent one after the other, and one is written down when it is answered.
  await expectEachOnce(cluster, namespace, { count: 30, unwritten: 1 });
}

/** The cluster's owner forbids it: that is found out by trying, before the first pod. */
async function heedsARefusedDryRun(cluster: SideCluster): Promise<void> {
  const { desk, server } = cluster;
  const name = recovery("dry-run");
  server.must(["create", "-f", "-"], JSON.stringify(changeFreeze("dry-run")));
  const [first] = targetsOf(await desk.one(name));
  if (first === undefined) throw new Error("It has no targets");
  const body = { apiVersion: "v1", kind: "DeleteOptions", dryRun: ["All"] };
  await until("the freeze counts", async () => {
    const { text } = await server.ask({ method: "DELETE", path: podPath(first), body });
    return text.includes("change freeze") ? true : undefined;
  });
  await desk.say(name, "Approve");
  const decision = await desk.untilPhase(name, "Paused");
  expect(decision.status?.message).toContain("change freeze");
  expect(removalStatus(decision)).toMatchObject({ dryRun: "Refused" });
  expect(await deedsIn(cluster, "dry-run")).toEqual([]);
  expect((await cluster.podNames("dry-run")).length).toBe(20);
}

/** 1,995 pods were removed there today, says the guard's own record: ten more open the breaker, until a person closes it. */
async function opensTheBreaker(cluster: SideCluster): Promise<void> {
  const { desk, server } = cluster;
  const namespace = "open-breaker";
  const name = recovery(namespace);
  const hour = String(Math.floor(Date.now() / 3_600_000));
  const budget = JSON.stringify({ hours: { [hour]: { [namespace]: 1_995 } }, minute: 0, inMinute: 0, breaker: "" });
  const path = "/api/v1/namespaces/levee-system/configmaps/levee-guard";
  const body = { data: { "removal-budget": budget } };
  expect(await server.ask({ method: "PATCH", path, body, type: mergePatch })).toMatchObject({ code: 200 });
  await desk.say(name, "Approve");
  const { status } = await desk.untilPhase(name, "Paused");
  expect(status?.message).toContain("2000");
  expect(await deedsIn(cluster, namespace)).toEqual([]);
  expect((await cluster.podNames(namespace)).length).toBe(20);
  // A word of the second in which the breaker opened may be from before.
  await untilNextSecond();
  await desk.say(name, "ResetBreaker");
  await desk.say(name, "Resume");
  await desk.untilPhase(name, "Succeeded", 120_000);
  await expectEachOnce(cluster, namespace, { count: 20 });
}

/** The quota's own controller counts it, and the API server refuses by it. */
async function stopsByQuota(cluster: SideCluster): Promise<void> {
  const { desk, server } = cluster;
  const { namespace, pods } = spared;
  const stop = `stop-${namespace}-1`;
  await cluster.sparedMade();
  await until(
    `${stop} is proposed`,
    async () => (await desk.all()).some(({ metadata }) => metadata.name === stop) || undefined,
    { timeoutMs: 370_000, everyMs: 1_000 },
  );
  // Nothing else is in the namespace, so it is room alone: half of what is to be removed.
  expect((await desk.one(stop)).spec.steps).toMatchObject([{ stopSource: { way: "Quota", pods: pods / 2 } }]);
  expect(await cluster.makeOneMoreSpared()).toMatchObject({ code: 201 });
  await desk.say(stop, "Approve");
  await desk.untilPhase(stop, "Succeeded", 150_000);
  const path = `/api/v1/namespaces/${namespace}/resourcequotas/levee-ownerless-pods`;
  const { text } = await server.ask({ method: "GET", path });
  expect(JSON.parse(text)).toMatchObject({
    status: { hard: { pods: String(pods / 2) }, used: { pods: String(pods + 1) } },
  });
  const refused = await cluster.makeOneMoreSpared();
  expect([refused.code, refused.text]).toEqual([403, expect.stringContaining("exceeded quota") as string]);
  expect((await cluster.podNames(namespace)).length).toBe(pods + 1);
  const recover = `recover-${namespace}-1`;
  await desk.say(recover, "Approve");
  await desk.untilPhase(recover, "Succeeded", 120_000);
  // The one that came after the proposal is not in its plan.
  expect((await cluster.podNames(namespace)).length).toBe(1);
}

/** Real deletions of pods there, each a line. */
async function deedsIn({ desk }: SideCluster, namespace: string): Promise<readonly string[]> {
  const deeds = await desk.guardDeeds();
  return deeds.filter((write) => write.namespace === namespace).map(writeText);
}

async function untilDeeds(cluster: SideCluster, namespace: string): Promise<void> {
  await until(
    `the first batch of ${namespace} is under way`,
    async () => ((await deedsIn(cluster, namespace)).length > 0 ? true : undefined),
    { timeoutMs: 90_000, everyMs: 50 },
  );
}

/** All are gone, and none was asked twice to go. `unwritten`: of a server that was killed, what it had no time to write down. */
async function expectEachOnce(
  cluster: SideCluster,
  namespace: Avalanche,
  { count, unwritten = 0 }: { readonly count: number; readonly unwritten?: number },
): Promise<void> {
  expect(await cluster.podNames(namespace)).toEqual([]);
  const deeds = await deedsIn(cluster, namespace);
  expect(new Set(deeds).size).toBe(deeds.length);
  expect(deeds.length).toBeWithin(count - unwritten, count + 1);
}

async function remove({ server }: SideCluster, target: PodTarget): Promise<void> {
  const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
  const { code, text } = await server.ask({ method: "DELETE", path: podPath(target), body });
  if (code !== 200) throw new Error(`${target.name} cannot be deleted: ${text}`);
}

function podPath({ namespace, name }: PodTarget): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

function removalOf({ spec }: Decision): RemovePodsStep {
  const step = spec.steps.find(({ action }) => action === "RemovePods");
  if (step?.action !== "RemovePods") throw new Error("It removes nothing");
  return step;
}

function targetsOf(decision: Decision): readonly PodTarget[] {
  return removalOf(decision).targets;
}

function removalStatus(decision: Decision): StepStatus | undefined {
  const { id } = removalOf(decision);
  return decision.status?.steps?.find((step) => step.id === id);
}

/** A policy of the cluster's owner that holds for every user. */
function changeFreeze(namespace: string): object {
  const group = { apiVersion: "admissionregistration.k8s.io/v1" };
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["pods"] };
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  const metadata = { name: "change-freeze" };
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      {
        ...group,
        kind: "ValidatingAdmissionPolicy",
        metadata,
        spec: {
          matchConstraints: { resourceRules: [rule], namespaceSelector },
          validations: [{ expression: "false", message: "there is a change freeze" }],
        },
      },
      {
        ...group,
        kind: "ValidatingAdmissionPolicyBinding",
        metadata,
        spec: { policyName: "change-freeze", validationActions: ["Deny"] },
      },
    ],
  };
}
