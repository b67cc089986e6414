import { beforeEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { installedPolicies } from "../approve/policies.fixture.ts";
import { propose } from "../decide/propose.ts";
import type { Decision, DecisionStatus } from "../decision/decision.ts";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { outage } from "../outage.fixture.ts";
import { minuteMs, nowMs, outagePods, world } from "../world.fixture.ts";
import { guardRound, type RoundResult } from "./guard-round.ts";

let requests: KubeRequest[];
let answer: string;
let refuse: ((request: KubeRequest) => number | undefined) | undefined;

beforeEach(() => {
  requests = [];
  refuse = undefined;
  refused = 0;
  answer = "{}";
  words = [];
});

const api: KubeApi = {
  async call(request) {
    await Promise.resolve();
    const status = refuse?.(request);
    if (status !== undefined) throw new KubeError("api-refused", `no: ${status}`, { status });
    if (request.path.includes("/decisionapprovals?"))
      return JSON.stringify({ metadata: { resourceVersion: "1" }, items: words });
    requests.push(request);
    return answer;
  },
  lines: () => {
    throw new Error("no test watches");
  },
};

let refused = 0;

/** Words that the API server has and the watch has not. */
let words: readonly object[];

function round(seen: World, changes: { isCurrent?: boolean; isHeld?: boolean } = {}): Promise<RoundResult> {
  const { isCurrent = true, isHeld = true } = changes;
  return guardRound({
    api,
    clock: new ManualClock(),
    logger: silentLogger,
    settings,
    source: { isCurrent: () => isCurrent, world: () => seen, approvals: () => [], policies: () => policies },
    term: { identity: "guard-a", fence: 7, isHeld: () => isHeld },
    onRefused: () => (refused += 1),
  });
}

const policies = installedPolicies("2026-05-01T00:00:00Z");

function decisions(status?: DecisionStatus, seen = outage()): readonly Decision[] {
  return propose(seen, settings).map(({ name, spec }) => ({
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: {
      name,
      namespace: "levee-system",
      uid: name,
      resourceVersion: "5",
      creationTimestamp: "2026-05-10T19:00:00Z",
    },
    spec,
    ...(status === undefined ? {} : { status }),
  }));
}

const proposed: DecisionStatus = {
  phase: "Proposed",
  message: "",
  fence: 7,
  leader: "guard-a",
  since: "2026-05-10T18:00:00Z",
};

test("guardRound creates both Decisions of the outage and writes nothing else", async () => {
  expect(await round(outage())).toEqual({
    outcome: "done",
    created: ["stop-fc-desktop-1", "recover-fc-desktop-1"],
    revised: [],
    changed: [],
  });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /apis/levee.dev/v1alpha1/namespaces/levee-system/decisions",
    "POST /apis/levee.dev/v1alpha1/namespaces/levee-system/decisions",
  ]);
});

test("guardRound gives Decisions their first status, under its own fence and only if they are as they were read", async () => {
  expect((await round(outage({ decisions: decisions() }))).changed.length).toBe(2);
  const [first] = requests;
  expect(first?.path).toEndWith("/decisions/stop-fc-desktop-1/status");
  expect(first?.contentType).toBe("application/merge-patch+json");
  expect(JSON.parse(first?.body ?? "")).toMatchObject({
    metadata: { resourceVersion: "5" },
    status: { phase: "Proposed", fence: 7, leader: "guard-a" },
  });
});

test("guardRound leaves proposals alone whose cause lives, and ends those whose cause is gone", async () => {
  const known = decisions(proposed);
  expect(await round(outage({ decisions: known }))).toMatchObject({ created: [], changed: [] });
  expect((await round(world({ decisions: known }))).changed).toEqual(["stop-fc-desktop-1", "recover-fc-desktop-1"]);
  expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({
    status: { phase: "Expired", message: "Its cause is gone" },
  });
});

/** Twenty pods were proposed a minute ago, and now there are fifty. */
function grown(): World {
  const known = decisions(proposed, world({ pods: outagePods(50).slice(0, 20) }));
  return world({ pods: outagePods(50), decisions: known, nowMs: nowMs + minuteMs });
}

function word(seen: World, verdict: string, madeMs = seen.nowMs): object {
  const { metadata, spec } = seen.decisions[1]!;
  return {
    metadata: { name: "w", namespace: "levee-system", creationTimestamp: new Date(madeMs).toISOString() },
    spec: {
      ...{ decision: metadata.name, decisionUID: metadata.uid, planHash: spec.planHash },
      ...{ verdict, by: { username: "alice" } },
    },
  };
}

test("guardRound replaces the plan of a proposal that has fallen behind, only if it is as it was read", async () => {
  expect(await round(grown())).toEqual({
    outcome: "done",
    created: [],
    revised: ["recover-fc-desktop-1"],
    changed: [],
  });
  const [request] = requests;
  expect(requests.length).toBe(1);
  expect(request).toMatchObject({ method: "PATCH", contentType: "application/merge-patch+json" });
  expect(request?.path).toEndWith("/decisions/recover-fc-desktop-1");
  const body = JSON.parse(request?.body ?? "") as { metadata: object; spec: Decision["spec"] };
  expect(body.metadata).toEqual({ uid: "recover-fc-desktop-1", resourceVersion: "5" });
  expect(body.spec.revisions).toMatchObject([{ change: "30 more pods, 50 in all" }]);
  refuse = ({ method }) => (method === "PATCH" ? 409 : undefined);
  expect(await round(grown())).toMatchObject({ revised: [] });
  expect(refused).toBe(0);
});

test("guardRound ends a second proposal about the same cause, and keeps the first", async () => {
  const [stop, recover] = decisions(proposed);
  const later = { name: "recover-fc-desktop-2", uid: "u2", creationTimestamp: "2026-05-10T19:04:00Z" };
  const second: Decision = { ...recover!, metadata: { ...recover!.metadata, ...later } };
  expect((await round(outage({ decisions: [second, stop!, recover!] }))).changed).toEqual(["recover-fc-desktop-2"]);
  expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({
    status: { phase: "Superseded", message: "recover-fc-desktop-1 is about the same cause and follows it" },
  });
});

test("guardRound does not take away a plan that a person has just answered", async () => {
  const seen = grown();
  for (const verdict of ["Approve", "Reject"]) {
    words = [word(seen, verdict)];
    expect(await round(seen)).toMatchObject({ revised: [] });
  }
  // An approval that has lapsed does not hold it.
  words = [word(seen, "Approve", seen.nowMs - 16 * minuteMs)];
  expect(await round(seen)).toMatchObject({ revised: ["recover-fc-desktop-1"] });
});

test("guardRound keeps the old plan when the server refuses the new one, and counts it", async () => {
  refuse = ({ method, path }) => (method === "PATCH" && !path.endsWith("/status") ? 403 : undefined);
  expect(await round(grown())).toMatchObject({ outcome: "done", revised: [] });
  expect(refused).toBe(1);
});

test("guardRound decides nothing while it is blind or does not lead", async () => {
  const seen = outage({ decisions: decisions() });
  expect((await round(seen, { isCurrent: false })).outcome).toBe("blind");
  expect((await round(seen, { isHeld: false })).outcome).toBe("not-leading");
  expect(requests).toEqual([]);
});

test("guardRound accepts an existing Decision as created, and looks again at one that has changed", async () => {
  refuse = ({ method }) => (method === "GET" ? undefined : 409);
  answer = JSON.stringify(decisions()[0]);
  expect(await round(outage())).toEqual({ outcome: "done", created: [], revised: [], changed: [] });
  expect(await round(outage({ decisions: decisions() }))).toEqual({
    outcome: "done",
    created: [],
    revised: [],
    changed: [],
  });
  expect(refused).toBe(0);
});

test("guardRound logs an unreadable object with the name of a proposal", async () => {
  refuse = ({ method }) => (method === "GET" ? undefined : 409);
  answer = JSON.stringify({ metadata: { name: "stop-fc-desktop-1" }, spec: { steps: [] } });
  expect((await round(outage())).created).toEqual([]);
  expect(refused).toBe(2);
});

test("guardRound goes on when one Decision cannot be created, and counts it", async () => {
  refuse = ({ body }) => (body?.includes('"stop-fc-desktop-1"') === true ? 422 : undefined);
  expect((await round(outage())).created).toEqual(["recover-fc-desktop-1"]);
  expect(refused).toBe(1);
});

for (const status of [403, 422]) {
  test(`guardRound ends with the error when the server refuses a status with ${status}: an older leader may not write`, async () => {
    refuse = () => status;
    const failure = await round(outage({ decisions: decisions() })).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(KubeError);
  });
}

test("guardRound keeps at most 50 open proposals", async () => {
  const pods = Array.from({ length: 60 }, (_, index) => outagePods(20, { namespace: `ns-${index}` })).flat();
  expect((await round(world({ pods }))).created.length).toBe(50);
});
