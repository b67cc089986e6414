/**
 * The outage of the seeds, start to end, with the real guard: `npm run e2e -- guard`. A pod must have waited for five minutes;
 * here the guards are told a shorter time, but for `npm run e2e -- --full guard`. Two clusters run beside each other, so that
 * this time passes only once. Real: etcd, kube-apiserver with RBAC and an audit log,
 * kube-controller-manager, two guards each (dist/levee, their own account's token), git. Not real: kubelet and scheduler
 * (guard/stand-in-kubelet.ts lists every write) and Argo CD's controller (guard/stand-in-argo.ts).
 */
import { expect, test } from "bun:test";
import { stuckAfterMs } from "../../src/guard/detect/avalanche.ts";
import type { Decision } from "../../src/guard/decision/decision.ts";
import { bystanderUids } from "./guard/bystanders.ts";
import { CaseList } from "./guard/case-list.ts";
import { missingForKubeControllers } from "./guard/kube-controllers.ts";
import { DecisionDesk, writeText } from "./guard/decision-desk.ts";
import { GuardReplicas } from "./guard/guard-process.ts";
import { desktops, isBroken, isWell, OutageCluster, podCount, type ArgoPlace } from "./guard/outage-cluster.ts";
import { sideCases } from "./guard/side-cases.ts";
import { SideCluster } from "./guard/side-cluster.ts";
import { StandInArgo } from "./guard/stand-in-argo.ts";
import { linesOf, typeLine } from "./guard/typed-line.ts";
import { cniManifest, cniManifestPath } from "./guard/workloads.ts";
import { needsServer } from "./needs-server.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("guard", missingForKubeControllers());

const longMs = 900_000;
const stop = `stop-${desktops}-1`;
const recover = `recover-${desktops}-1`;
/** In two minutes the CNI daemons are killed often enough to tell a crash loop from a bad start. */
const waitMs = process.env["LEVEE_E2E_FULL"] === "1" ? stuckAfterMs : 120_000;
const guardOptions = ["--stuck-after", String(waitMs / 1000)];
/** Two looks of the guard. */
const twoLooksMs = 21_000;

const outageCases = [
  "with the guard off nothing recovers",
  "the guard names one cause and proposes two Decisions",
  "it does nothing that was not approved, by the API server's own audit log",
  "the source is stopped once that is approved, and nothing else is done",
  "a push that git rejects pauses, and a person resumes",
  "it ends in Succeeded with every check green",
  "git has one commit of one path on the guard's own branch",
  "debug pods, Jobs and static pods of the same namespace are untouched",
  "everything it did was one of the approved steps",
] as const;
const cases = new CaseList([...outageCases, ...sideCases.map(([name]) => name)]);

let cluster: OutageCluster<StandInArgo>;
let besides: SideCluster;
let desk: DecisionDesk;
let guards: GuardReplicas;
let brokenMs = 0;
let approvedMs = 0;
let bystanders: ReadonlyMap<string, string>;

beforeAll(async () => {
  const makeArgo = ({ server, repository }: ArgoPlace): StandInArgo => new StandInArgo(server, repository);
  [cluster, besides] = await Promise.all([OutageCluster.start(makeArgo), SideCluster.start(guardOptions)]);
  desk = new DecisionDesk(cluster.server);
  const repository = `file://${cluster.repository.folder},branch=main,path=apps`;
  guards = await GuardReplicas.make(cluster.server, cluster.folder, [...guardOptions, "--git-repository", repository]);
  await besides.breakDown();
  cases.begin(sideCases.map(([name, act]) => [name, () => act(besides)]));
  await cluster.breakDown();
  brokenMs = performance.now();
  bystanders = await bystanderUids(cluster.server, desktops);
}, longMs);

afterAll(async () => {
  await cases.settled();
  await Promise.all([guards.stop().then(() => cluster.stop()), besides.stop()]);
  cases.print();
}, longMs);

function story(name: (typeof outageCases)[number], act: () => Promise<void>): void {
  test(name, () => cases.watch(name, act()), longMs);
}

async function deeds(): Promise<readonly string[]> {
  return (await desk.guardDeeds()).map(writeText);
}

group("the guard in the outage of the seeds", () => {
  story("with the guard off nothing recovers", async () => {
    const first = await cluster.symptoms();
    while (performance.now() - brokenMs < waitMs) {
      await pause(15_000);
      expect(await cluster.symptoms()).toSatisfy(isBroken);
    }
    expect((await cluster.symptoms()).daemonRestarts).toBeGreaterThan(first.daemonRestarts + 30);
  });

  story("the guard names one cause and proposes two Decisions", async () => {
    guards.start();
    await until("both Decisions wait for a person", async () => {
      const all = await desk.all();
      return all.length === 2 && all.every(({ status }) => status?.phase === "Proposed") ? true : undefined;
    });
    expect((await desk.one(stop)).spec.steps.map(({ action }) => action)).toEqual(["StopSource"]);
    expectWholePlan(await desk.one(recover));
  });

  story("it does nothing that was not approved, by the API server's own audit log", async () => {
    await pause(twoLooksMs);
    expect((await desk.guardWrites()).length).toBeGreaterThan(3);
    expect(await deeds()).toEqual([]);
  });

  story("the source is stopped once that is approved, and nothing else is done", async () => {
    await desk.say(stop, "Approve");
    approvedMs = performance.now();
    await desk.untilPhase(stop, "Succeeded", 150_000);
    expect(cluster.operator.refused).toBeGreaterThan(0);
    expect(cluster.operator.lastRefusal).toContain("has no controller owner");
    expect(await deeds()).toEqual([`patch namespaces ${desktops}/${desktops}`]);
    expect((await desk.all()).map(({ status }) => status?.phase).toSorted()).toEqual(["Proposed", "Succeeded"]);
  });

  story("a push that git rejects pauses, and a person resumes", async () => {
    cluster.repository.refusePushes(true);
    await desk.say(recover, "Approve");
    const waiting = await desk.until(recover, "waits for the hold", ({ status }) => linesOf(status).length > 0);
    expect((await deeds()).length).toBe(1);
    typeLine(cluster.server, linesOf(waiting.status)[0] ?? "");
    const { status } = await desk.untilPhase(recover, "Paused", 300_000);
    expect([status?.step, status?.message]).toEqual([
      "4/9 LockToGit",
      expect.stringContaining("the branch is protected") as string,
    ]);
    expect(cluster.repository.branches()).toEqual(["main"]);
    cluster.repository.refusePushes(false);
    await desk.say(recover, "Resume");
  });

  story("it ends in Succeeded with every check green", async () => {
    const { status } = await desk.untilPhase(recover, "Succeeded", 240_000);
    const recoveredMs = performance.now() - approvedMs;
    expect((status?.steps ?? []).map(({ phase, verified }) => [phase, verified])).toEqual(
      Array.from({ length: 9 }, () => ["Done", true]),
    );
    expect(status?.steps?.[1]).toMatchObject({ removed: podCount });
    expect(await cluster.symptoms()).toSatisfy(isWell);
    expect(cluster.argo.reverts).toBe(0);
    // At full length, the time in which nothing recovered by itself was longer.
    expect(recoveredMs).toBeLessThan(stuckAfterMs);
  });

  story("git has one commit of one path on the guard's own branch", async () => {
    const branch = `levee/${recover}`;
    expect(cluster.repository.branches()).toEqual([branch, "main"]);
    expect(cluster.repository.changes("main", branch)).toEqual([`M\t${cniManifestPath}`]);
    expect(cluster.repository.file(branch, cniManifestPath)).toBe(cniManifest("1Gi", "512Mi"));
  });

  story("debug pods, Jobs and static pods of the same namespace are untouched", async () => {
    expect(await bystanderUids(cluster.server, desktops)).toEqual(bystanders);
  });

  story("everything it did was one of the approved steps", async () => {
    const done = await deeds();
    const removals = done.filter((line) => line.startsWith(`delete pods ${desktops}/`));
    expect(new Set(removals).size).toBe(podCount);
    expect(done.filter((line) => !removals.includes(line))).toEqual([
      `patch namespaces ${desktops}/${desktops}`,
      "patch daemonsets kube-system/kube-multus-ds",
    ]);
    expect(cluster.kubelet.problems).toEqual([]);
  });
});

group("the guard when everything else goes wrong", () => {
  for (const [name] of sideCases) test(name, () => cases.outcome(name), longMs);
});

function expectWholePlan({ spec }: Decision): void {
  expect(spec.steps.map(({ action }) => action)).toEqual([
    "HoldArgoApp",
    "RemovePods",
    "SetMemoryLimit",
    "LockToGit",
    "ListStuck",
    "RestartWorkload",
    "RestartWorkload",
    "RestartWorkload",
    "Verify",
  ]);
  const [, removal, memory] = spec.steps;
  expect(removal?.action === "RemovePods" ? removal.targets.length : 0).toBe(podCount);
  expect(memory).toMatchObject({ setMemoryLimit: { oldLimit: "50Mi", newLimit: "1Gi", newRequest: "512Mi" } });
  expect(spec.steps.flatMap((step) => (step.action === "RestartWorkload" ? [step.restartWorkload.name] : []))).toEqual([
    "longhorn-driver",
    "traefik",
    "argocd-repo-server",
  ]);
  const rules = new Set(spec.chain.map(({ rule }) => rule));
  for (const rule of ["BacklogOverloadsCni", "CniDownFailsSandboxes", "CniDownSticksPods"])
    expect([...rules]).toContain(rule);
  expect(spec.chain.some(({ effect }) => effect.includes("5 of 5 Argo CD Applications are Unknown"))).toBe(true);
}
