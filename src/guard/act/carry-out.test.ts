import { beforeEach, expect, test } from "bun:test";
import { KubeError } from "../../kube/client/api.ts";
import type { Decision } from "../decision/decision.ts";
import type { StepAction } from "../decision/step.ts";
import { minuteMs, nowMs, stuckPod } from "../world.fixture.ts";
import { carryOut } from "./carry-out.ts";
import { GuardedServer, refusal } from "./guarded.fixture.ts";
import type { StepContext, StepRunner, StepRunners, StepResult } from "./step-runner.ts";

let server: GuardedServer;
let done: string[];

beforeEach(() => {
  server = new GuardedServer(["RemovePods", "ListStuck", "Verify"]);
  done = [];
});

/** A runner that writes once through the gate. */
function runner(changes: Partial<StepRunner> = {}): StepRunner {
  return {
    precondition: () => Promise.resolve(undefined),
    rehearse: () => Promise.resolve(undefined),
    async perform({ action }, { api }): Promise<StepResult> {
      await api.call({ method: "DELETE", path: `/${action}`, deadlineMs: 1 });
      done.push(action);
      return { message: `${action} was done` };
    },
    check: () => Promise.resolve(undefined),
    ...changes,
  };
}

function runners(changes: Partial<Record<StepAction, Partial<StepRunner>>> = {}): StepRunners {
  const all = (["StopSource", "RemovePods", "ListStuck", "Verify"] as const).map((action) => [
    action,
    runner(changes[action]),
  ]);
  return Object.fromEntries(all) as StepRunners;
}

/** Advances the clock until the Decision ends. */
async function outcome(set: StepRunners = runners(), forMs = 300_000): Promise<string> {
  let result: string | undefined;
  const running = carryOut(server.options({ runners: set }), server.decision).then(
    (phase) => (result = phase ?? "nothing"),
    (thrown: unknown) => (result = thrown instanceof Error ? `threw ${thrown.message}` : "?"),
  );
  for (let passedMs = 0; result === undefined && passedMs < forMs; passedMs += 1_000) await server.clock.advance(1_000);
  return Promise.race([running, Promise.resolve("hangs")]);
}

test("carryOut does every step in order, says where it is, and succeeds", async () => {
  expect(await outcome()).toBe("Succeeded");
  expect(done).toEqual(["RemovePods", "ListStuck", "Verify"]);
  expect(server.decision.status).toMatchObject({ phase: "Succeeded", step: "3/3 Verify", fence: 3, leader: "guard-a" });
  expect(server.decision.status?.startedAt).toBeString();
  expect(server.decision.status?.endedAt).toBeString();
  expect(server.decision.status?.steps).toMatchObject([
    { id: 1, phase: "Done", dryRun: "Passed", verified: true, message: "RemovePods was done" },
    { id: 2, phase: "Done" },
    { id: 3, phase: "Done" },
  ]);
  const statuses = server.written.filter(({ path }) => path.endsWith("/status"));
  for (const { body } of statuses)
    expect(JSON.parse(body ?? "")).toMatchObject({ metadata: { uid: "uid-q" }, status: { fence: 3 } });
  const events = server.written
    .filter(({ path }) => path.endsWith("/events"))
    .map(({ body }) => (JSON.parse(body ?? "{}") as { reason: string }).reason); // our own event
  expect(events).toEqual([
    "StepStarted",
    "StepDone",
    "StepStarted",
    "StepDone",
    "StepStarted",
    "StepDone",
    "DecisionSucceeded",
  ]);
});

for (const [what, changes, words] of [
  [
    "a precondition that does not hold",
    { precondition: () => Promise.resolve("too early") },
    "it may not start: too early",
  ],
  ["a dry run that is refused", { rehearse: () => Promise.resolve("not here") }, "the dry run was refused: not here"],
  ["a request that is refused", { perform: () => Promise.reject(refusal(422)) }, "no: 422"],
  [
    "a check that does not hold in time",
    { check: () => Promise.resolve("3 left") },
    "its check does not hold after 60 s: 3 left",
  ],
] as const) {
  test(`carryOut pauses at ${what}, says why, and does no further step`, async () => {
    expect(await outcome(runners({ RemovePods: changes }))).toBe("Paused");
    expect(server.decision.status?.message).toBe(`Step 1/3 RemovePods: ${words}`);
    expect(server.decision.status?.steps?.[0]).toMatchObject({ phase: "Failed" });
    expect(server.decision.status?.endedAt).toBeUndefined();
    expect(done.includes("ListStuck")).toBe(false);
  });
}

test("carryOut pauses with a remedy when the guard has no right to act", async () => {
  const words = 'pods "x" is forbidden: User "system:serviceaccount:a:b" cannot delete resource "pods"';
  server.answer = ({ path }) => (path === "/RemovePods" ? refusal(403, words) : undefined);
  expect(await outcome()).toBe("Paused");
  expect(server.decision.status?.message).toContain("ClusterRoleBinding levee-guard-acts");
});

test("carryOut pauses when it has no step runner for a step", async () => {
  expect(await outcome({})).toBe("Paused");
  expect(server.decision.status?.message).toContain("has no step runner for it");
});

test("carryOut hears a stop before each request, and while it waits for a check", async () => {
  const twice = runner({
    async perform(_step, { api }) {
      await api.call({ method: "DELETE", path: "/one", deadlineMs: 1 });
      server.say("Pause");
      await api.call({ method: "DELETE", path: "/two", deadlineMs: 1 });
      return {};
    },
  });
  expect(await outcome({ ...runners(), RemovePods: twice })).toBe("Paused");
  expect(server.written.map(({ path }) => path).filter((path) => ["/one", "/two"].includes(path))).toEqual(["/one"]);
  expect(server.decision.status).toMatchObject({ message: "alice paused it", steps: [{ phase: "Waiting" }] });
  server = new GuardedServer(["Verify"]);
  const waits = (): Promise<string> => {
    server.approvals = [];
    return Promise.resolve("not yet");
  };
  expect(await outcome(runners({ Verify: { check: waits } }))).toBe("Paused");
  expect(server.decision.status?.message).toBe("Its approval was withdrawn");
});

test("carryOut makes no further request once the Decision was deleted or replaced", async () => {
  for (const [change, phase] of [
    [
      (): void => void (server.answer = ({ path }) => (path.includes("/decisions/q") ? refusal(404) : undefined)),
      "nothing",
    ],
    [(): void => void (server.decision = withMetadata({ uid: "uid-of-the-next" })), "nothing"],
    [(): void => void (server.decision = withMetadata({ deletionTimestamp: "2026-05-10T19:00:00Z" })), "Paused"],
  ] as const) {
    server = new GuardedServer(["RemovePods"]);
    const twice = runner({
      async perform(_step, { api }) {
        await api.call({ method: "DELETE", path: "/one", deadlineMs: 1 });
        change();
        await api.call({ method: "DELETE", path: "/two", deadlineMs: 1 });
        return {};
      },
    });
    expect(await outcome({ ...runners(), RemovePods: twice })).toBe(phase);
    expect(server.written.map(({ path }) => path).filter((path) => ["/one", "/two"].includes(path))).toEqual(["/one"]);
  }
  expect(server.decision.status?.message).toContain("It was deleted");
});

test("carryOut writes nothing elsewhere once the guard has no right to act", async () => {
  const pushes = runner({
    async perform({ action }, context) {
      await context.mayWrite();
      done.push(action);
      return {};
    },
  });
  expect(await outcome({ ...runners(), RemovePods: pushes })).toBe("Succeeded");
  server = new GuardedServer(["RemovePods"]);
  server.mayAct = false;
  done = [];
  expect(await outcome({ ...runners(), RemovePods: pushes })).toBe("Paused");
  expect(done).toEqual([]);
  expect(server.decision.status?.message).toContain("ClusterRoleBinding levee-guard-acts");
});

function withMetadata(changes: Partial<Decision["metadata"]>): Decision {
  return { ...server.decision, metadata: { ...server.decision.metadata, ...changes } };
}

test("carryOut goes on after a resume with the steps that are not done", async () => {
  await outcome(runners({ ListStuck: { precondition: () => Promise.resolve("no") } }));
  server.decision = { ...server.decision, status: { ...server.decision.status!, phase: "Running" } };
  done = [];
  expect(await outcome()).toBe("Succeeded");
  expect(done).toEqual(["ListStuck", "Verify"]);
});

test("carryOut keeps what fell while a step ran, also if it starts before Verify looks", async () => {
  const db = stuckPod("db-0", { namespace: "shop", owner: "StatefulSet/db", shape: "", boundMs: nowMs });
  const before = server.seen;
  const seenBy: unknown[] = [];
  const look = async (_step: unknown, { decision }: StepContext): Promise<StepResult> => {
    seenBy.push(decision.status?.steps?.flatMap(({ followed = [] }) => followed));
    return { message: "" };
  };
  const fallen = async (): Promise<StepResult> => {
    server.seen = { ...before, pods: [...before.pods, db], nowMs: nowMs + 10 * minuteMs };
    return { message: "" };
  };
  const risen = async (): Promise<StepResult> => {
    server.seen = before;
    return { message: "" };
  };
  const set = runners({ RemovePods: { perform: fallen }, ListStuck: { perform: risen }, Verify: { perform: look } });
  expect(await outcome(set)).toBe("Succeeded");
  expect(seenBy).toEqual([[{ kind: "StatefulSet", namespace: "shop", name: "db" }]]);
});

test("carryOut leaves alone Decisions that are not approved or that another leader runs", async () => {
  for (const status of [
    server.status({ phase: "Proposed" }),
    server.status({ phase: "Paused" }),
    server.status({ phase: "Running", leader: "guard-b" }),
    server.status({ phase: "Running", fence: 2 }),
  ]) {
    server.decision = { ...server.decision, status };
    expect(await outcome()).toBe("nothing");
  }
  expect(server.written).toEqual([]);
});

test("carryOut does not overwrite a change made between its read and its first write", async () => {
  server.answer = ({ method, path }) => {
    if (method === "PATCH" && path.endsWith("/status"))
      server.decision = { ...server.decision, metadata: { ...server.decision.metadata, resourceVersion: "9" } };
    return undefined;
  };
  expect(await outcome()).toBe("nothing");
  expect(done).toEqual([]);
});

test("carryOut throws when a status is refused, and when the term is lost", async () => {
  server.answer = ({ path }) => (path.endsWith("/status") ? refusal(422, "an older leader may not write") : undefined);
  expect(await outcome()).toBe("threw an older leader may not write");
  server = new GuardedServer(["Verify"]);
  const loses = async (_step: unknown, { api }: StepContext): Promise<StepResult> => {
    server.isHeld = false;
    await api.call({ method: "DELETE", path: "/late", deadlineMs: 1 });
    return {};
  };
  expect(await outcome(runners({ Verify: { perform: loses } }))).toContain("does not lead");
  expect(server.written.some(({ path }) => path === "/late")).toBe(false);
  expect(server.decision.status?.phase).toBe("Running");
});

test("carryOut retries passing errors, and asks the gate again before each try", async () => {
  let away = 3;
  const unreachable = new KubeError("api-unreachable", "away");
  server.answer = ({ path }) => {
    if (path !== "/RemovePods" && !path.endsWith("/status")) return undefined;
    return (away -= 1) > 0 ? unreachable : undefined;
  };
  expect(await outcome()).toBe("Succeeded");
  away = 1_000;
  server.decision = {
    ...server.decision,
    status: server.status({ phase: "Approved", approval: { name: "Approve-1", by: "alice", at: "" } }),
  };
  expect(await outcome()).toBe("threw away");
});

test("carryOut comes back to a deferred step, and does not succeed without it", async () => {
  let tries = 0;
  const later = (): Promise<StepResult> =>
    Promise.resolve((tries += 1) < 3 ? { later: "git is away" } : { commit: "c0ffee" });
  expect(await outcome(runners({ ListStuck: { perform: later } }))).toBe("Succeeded");
  expect(done).toEqual(["RemovePods", "Verify"]);
  expect(server.decision.status?.steps?.[1]).toMatchObject({ phase: "Done", commit: "c0ffee" });
  server = new GuardedServer(["ListStuck", "Verify"]);
  const never = (): Promise<StepResult> => Promise.resolve({ later: "git is away" });
  expect(await outcome(runners({ ListStuck: { perform: never } }))).toBe("Paused");
  expect(server.decision.status?.message).toContain("git is away");
});

test("carryOut reads the policies after the words: an approval made while a policy was missing does not count", async () => {
  const { policies } = server;
  let reads = 0;
  server.answer = ({ path }) => {
    reads += path.includes("/validatingadmissionpolicybindings?") ? 1 : 0;
    return undefined;
  };
  const forge = runner({
    perform: () => {
      // A watch with a dead connection still shows that all is well.
      server.policies = policies.filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
      server.say("Resume");
      return Promise.resolve({ message: "" });
    },
  });
  expect(await outcome(runners({ RemovePods: forge }))).toBe("Paused");
  expect(server.decision.status?.message).toContain("ValidatingAdmissionPolicyBinding levee-");
  expect(done).toEqual([]);
  expect(reads).toBe(2);
});
