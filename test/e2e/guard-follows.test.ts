/** Plans that follow the facts until a person approves them, and work that survives its leader, on a real API server. */
import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Decision } from "../../src/guard/decision/decision.ts";
import { isPlanIntact } from "../../src/guard/decision/parse-decision.ts";
import { isMember } from "../../src/guard/detect/avalanche.ts";
import type { KubeApi, KubeRequest } from "../../src/kube/client/api.ts";
import { writesOf } from "./guard/audit.ts";
import { DecisionDesk } from "./guard/decision-desk.ts";
import { ActingGuard } from "./guard/guard-acting.ts";
import { decisions, guardUser, makePod, startGuardServer, untilPoliciesCount } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import { mergePatch, type PolicyServer } from "./policy-server.ts";
import { Program } from "./program.ts";
import { until } from "./until.ts";

const { group, beforeAll, beforeEach, afterEach, afterAll } = needsServer("guard-follows");

const program = join(import.meta.dir, "../../src/main.ts");
const minuteMs = 60_000;

let server: PolicyServer;
let desk: DecisionDesk;

beforeAll(async () => {
  server = await startGuardServer({ audit: true });
  desk = new DecisionDesk(server);
  await untilPoliciesCount(server);
}, 120_000);

afterAll(() => server.stop());

function targetsOf({ spec }: Decision): number {
  return spec.steps.reduce((sum, step) => sum + (step.action === "RemovePods" ? step.targets.length : 0), 0);
}

let guard: ActingGuard;

/** Twenty pods, proposed. */
async function proposed(namespace: string): Promise<Decision> {
  await guard.avalanche(namespace, 20);
  await guard.untilPhase(`stop-${namespace}-1`, "Proposed");
  return guard.untilPhase(`recover-${namespace}-1`, "Proposed");
}

async function grow(namespace: string, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) await guard.stuckPod(namespace, `rd-${index}`);
  await until("they are seen", () => {
    const { pods, nowMs } = guard.facts.world();
    const seen = [...pods].filter((pod) => pod.namespace === namespace && isMember(pod, nowMs)).length;
    return seen === to ? true : undefined;
  });
}

group("a plan that nobody has approved", () => {
  beforeEach(async () => {
    guard = new ActingGuard(server);
    await until("everything is listed", () => (guard.facts.isCurrent() ? true : undefined));
  });

  afterEach(() => guard.close());

  test("20 + 25 + 25 pods are one recovery; approvals of an earlier plan are void and told so; then one follow-up", async () => {
    const name = "recover-leak-1";
    const first = await proposed("leak");
    await grow("leak", 20, 45);
    // Within its first minute a plan stands still.
    expect((await guard.round()).revised).toEqual([]);
    guard.aheadMs = minuteMs;
    expect((await guard.round()).revised).toEqual([name]);
    const second = guard.find(name);
    expect([targetsOf(second), isPlanIntact(second), second.metadata.uid]).toEqual([
      45,
      true,
      first.metadata.uid ?? "",
    ]);
    expect(second.spec.revisions).toMatchObject([{ planHash: first.spec.planHash, change: "25 more pods, 45 in all" }]);
    await guard.say(name, "Approve", { planHash: first.spec.planHash });
    const told = await until("the void approval is told", async () => {
      await guard.round();
      const { status } = guard.find(name);
      return status?.message.includes("does not count") === true ? status : undefined;
    });
    expect(told.phase).toBe("Proposed");
    expect(told.message).toContain("Waits for a person; its plan changed at ");
    expect(told.message).toContain("which has changed since (25 more pods, 45 in all): read the new one and approve");
    await guard.say(name, "Approve");
    const approved = await guard.untilPhase(name, "Approved");
    // From here on nobody changes it, the guard's own account included.
    const body = { spec: { notes: ["x"] } };
    const change = { method: "PATCH", path: `${decisions}/${name}`, body, type: mergePatch } as const;
    expect(await server.ask({ ...change, as: { user: guardUser } })).toMatchObject({ code: 422 });
    await grow("leak", 45, 70);
    guard.aheadMs = 5 * minuteMs;
    expect((await guard.round()).created).toEqual(["recover-leak-2"]);
    expect(guard.find(name).spec).toEqual(approved.spec);
    expect(targetsOf(guard.find("recover-leak-2"))).toBe(25);
    expect((await desk.all()).filter(({ spec }) => spec.purpose === "Recover").length).toBe(2);
  }, 120_000);

  test("an approval that is there is not taken away, and one that comes in the last moment is void and told so", async () => {
    const name = "recover-race-1";
    const first = await proposed("race");
    await grow("race", 20, 45);
    guard.aheadMs = minuteMs;
    // Before the look at the words: the plan stays, although the watch has not brought the approval.
    await guard.say(name, "Approve");
    expect((await guard.round(guard.api, { approvals: () => [] })).revised).toEqual([]);
    expect((await guard.untilPhase(name, "Approved")).spec.planHash).toBe(first.spec.planHash);

    await proposed("late");
    await grow("late", 20, 45);
    guard.aheadMs = 2 * minuteMs;
    guard.afterwards = async ({ path }) => {
      if (!path.includes("/decisionapprovals?")) return;
      guard.afterwards = () => undefined;
      await guard.say("recover-late-1", "Approve");
    };
    expect((await guard.round(guard.api)).revised).toEqual(["recover-late-1"]);
    const { status } = await until("it is told", async () => {
      await guard.round();
      const decision = guard.find("recover-late-1");
      return decision.status?.message.includes("does not count") === true ? decision : undefined;
    });
    expect(status?.phase).toBe("Proposed");
  }, 120_000);

  test("of two guards that change a plan at once one does, and one that led before changes none", async () => {
    await proposed("two");
    await grow("two", 20, 45);
    guard.aheadMs = minuteMs;
    const before = guard.find("recover-two-1").spec.planHash;
    const rounds = await Promise.all([guard.round(), guard.round()]);
    expect(rounds.map(({ revised }) => revised.length).toSorted()).toEqual([0, 1]);
    expect(guard.find("recover-two-1").spec.revisions).toMatchObject([{ planHash: before }]);

    await grow("two", 45, 70);
    guard.aheadMs = 4 * minuteMs;
    // A leader is frozen just before it sends the plan; meanwhile another leads and looks around.
    const old = guard.term;
    const api = holding(guard.api, ({ method, path }) => method === "PATCH" && path.endsWith("/recover-two-1"));
    const frozen = guard.round(api);
    await api.reached;
    // In the world of the new leader the pods are not there yet, so it does not change the plan itself.
    guard.aheadMs = minuteMs;
    guard.term = { identity: "guard-b", fence: old.fence + 1, isHeld: () => true };
    await until("the new leader has marked it", async () => {
      await guard.round();
      return guard.find("recover-two-1").status?.leader === "guard-b" ? true : undefined;
    });
    api.release();
    expect((await frozen).revised).toEqual([]);
    expect(targetsOf(guard.find("recover-two-1"))).toBe(45);
  }, 120_000);
});

/** Holds one request back until it is released. */
function holding(
  api: KubeApi,
  isHeld: (request: KubeRequest) => boolean,
): KubeApi & { readonly reached: Promise<void>; release(): void } {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    release: () => released.resolve(),
    async call(request) {
      if (isHeld(request)) {
        reached.resolve();
        await released.promise;
      }
      return api.call(request);
    },
    lines: (path, options) => api.lines(path, options),
  };
}

const namespace = "processes";
let guards: readonly Program[];
let kubelet: ReturnType<typeof setInterval> | undefined;

async function stuckPods(from: number, to: number): Promise<void> {
  const lastTransitionTime = new Date(Date.now() - 600_000).toISOString();
  const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime }];
  for (let index = from; index < to; index += 1) {
    const pod = { name: `rd-${index}`, namespace, node: `n${(index % 2) + 1}` };
    await makePod(server, pod, { phase: "Pending", conditions });
  }
}

/** Ends pods that were asked to go, as their kubelets would. */
function startKubelet(): void {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
  kubelet = setInterval(() => {
    void server.ask({ method: "GET", path }).then(async ({ text }) => {
      const { items } = JSON.parse(text) as { items: { metadata: { name: string; deletionTimestamp?: string } }[] };
      for (const { metadata } of items)
        if (metadata.deletionTimestamp !== undefined)
          await server.ask({ method: "DELETE", path: `${path}/${metadata.name}`, body });
    });
  }, 500);
}

function leader(): Program {
  const holder = server.must([
    "-n",
    "levee-system",
    "get",
    "lease",
    "levee-guard",
    "-o",
    "jsonpath={.spec.holderIdentity}",
  ]);
  const found = guards.find(({ log, isRunning }) => isRunning && holder !== "" && log.includes(`"${holder}"`));
  if (found === undefined) throw new Error(`No guard that runs here is the leader "${holder}"`);
  return found;
}

async function removals(): Promise<readonly string[]> {
  const writes = await writesOf(server.auditFile, guardUser);
  return writes
    .filter((write) => write.verb === "delete" && write.resource === "pods" && write.namespace === namespace)
    .filter(({ isDryRun, code }) => !isDryRun && code < 300)
    .map(({ name }) => name);
}

group("two guards, a leader that is killed and one that is frozen", () => {
  const recover = `recover-${namespace}-1`;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "levee-follows-"));
    const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
    const config = {
      "current-context": "g",
      "contexts": [{ name: "g", context: { cluster: "g", user: "g" } }],
      "clusters": [{ name: "g", cluster: { "server": server.url, "insecure-skip-tls-verify": true } }],
      "users": [{ name: "g", user: { token } }],
    };
    const file = join(folder, "kubeconfig");
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    guards = ["guard-a", "guard-b"].map(
      (name) => new Program(folder, name, { command: [process.execPath, program, "guard", "--kubeconfig", file] }),
    );
  }, 60_000);

  afterAll(async () => {
    clearInterval(kubelet);
    for (const guard of guards) {
      if (guard.isRunning) process.kill(guard.pid, "SIGCONT");
      await guard.stop("SIGKILL");
    }
    await rm(folder, { recursive: true, force: true });
  });

  test("a plan changes once although its leader is killed, and an approved recovery needs no second word for two changes of the leader", async () => {
    server.must(["create", "namespace", namespace]);
    for (const guard of guards) guard.start();
    await stuckPods(0, 20);
    const first = await desk.until(recover, "is proposed", ({ status }) => status?.phase === "Proposed", 60_000);
    await stuckPods(20, 45);
    const killed = leader();
    await killed.restart("SIGKILL");
    const revised = await desk.until(recover, "follows", (now) => targetsOf(now) === 45, 150_000);
    expect(revised.metadata.uid).toBe(first.metadata.uid ?? "");
    expect(revised.spec.revisions).toMatchObject([
      { planHash: first.spec.planHash, change: "25 more pods, 45 in all" },
    ]);
    expect((await desk.all()).map(({ metadata }) => metadata.name).toSorted()).toEqual([
      recover,
      `stop-${namespace}-1`,
    ]);
    const writes = await writesOf(server.auditFile, guardUser);
    const changes = writes.filter(
      ({ verb, resource, name }) => verb === "patch" && resource === "decisions" && name === recover,
    );
    expect(changes.filter(({ code }) => code === 200).length).toBe(1);

    await desk.say(`stop-${namespace}-1`, "Approve");
    await desk.untilPhase(`stop-${namespace}-1`, "Succeeded", 90_000);
    await desk.say(recover, "Approve");
    await until("the first pods are asked to go", async () => (await removals()).length > 0 || undefined, {
      everyMs: 50,
    });
    const frozen = leader();
    process.kill(frozen.pid, "SIGSTOP");
    const taken = await desk.until(recover, "is taken over", ({ status }) => status?.takeovers === 1, 60_000);
    expect(taken.status).toMatchObject({ phase: "Running", approval: { by: "alice" } });
    process.kill(frozen.pid, "SIGCONT");
    await until("the frozen one has ended", () => !frozen.isRunning || undefined, { timeoutMs: 30_000 });
    frozen.start();
    // No kubelet ends a pod yet, so the removal cannot be over before its second leader is.
    await leader().restart("SIGKILL");
    await desk.until(recover, "is taken over again", ({ status }) => status?.takeovers === 2, 60_000);
    startKubelet();
    const isRemoved = ({ status }: Decision): boolean => status?.steps?.[0]?.phase === "Done";
    const after = await desk.until(recover, "has removed the pods", isRemoved, 180_000);
    const { removed = 0, gone = 0, leftAlone = [] } = after.status?.steps?.[0] ?? {};
    expect([removed + gone, leftAlone]).toEqual([45, []]);
    const ended = await desk.untilPhase(recover, "Succeeded", 240_000);
    expect(ended.status?.takeovers).toBe(2);
    expect(ended.spec.planHash).toBe(revised.spec.planHash);
    const asked = await removals();
    expect(new Set(asked).size).toBe(45);
    // A request that was under way when its sender froze may be answered without its sender having heard of it.
    expect(asked.length).toBeLessThanOrEqual(46);
    expect(
      (await desk.all()).flatMap(({ status }) => status?.audit ?? []).some(({ what }) => what.startsWith("Paused")),
    ).toBe(false);
  }, 600_000);
});
