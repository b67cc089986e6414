import { expect, test } from "bun:test";
import { KubeError, type KubeRequest } from "../../kube/client/api.ts";
import { GuardedServer, refusal } from "../act/guarded.fixture.ts";
import type { StepRunner } from "../act/step-runner.ts";
import type { Decision, DecisionPurpose } from "../decision/decision.ts";
import { Executor, lanes, nextToCarryOut } from "./executor.ts";

const term = { identity: "guard-a", fence: 3, isHeld: () => true };

test("nextToCarryOut takes the first approved Decision, no waiting one, and no recovery before the stop of its source", () => {
  const make = (
    name: string,
    action: "StopSource" | "Verify",
    at: string,
    phase: "Approved" | "Paused" = "Approved",
  ): Decision => {
    const server = new GuardedServer([action]);
    const { decision } = server;
    const status = server.status({ phase, approval: { name: "a", by: "alice", at } });
    return { ...decision, metadata: { ...decision.metadata, name }, status };
  };
  const second = make("second", "Verify", "2026-05-10T19:00:02Z");
  const first = make("first", "Verify", "2026-05-10T19:00:01Z");
  const stop = make("stop", "StopSource", "2026-05-10T19:00:03Z");
  const paused = make("paused", "StopSource", "2026-05-10T19:00:00Z", "Paused");
  const next = (purpose: DecisionPurpose, ...decisions: Decision[]): string | undefined =>
    nextToCarryOut(decisions, { term, purpose })?.metadata.name;
  expect(next("StopSource", paused, second, first, stop)).toBe("stop");
  expect(next("Recover", paused, second, first)).toBe("first");
  expect(next("StopSource", paused)).toBeUndefined();
  // The stop of its own source comes first; another source does not matter.
  expect(next("Recover", second, stop)).toBeUndefined();
  const elsewhere = { ...stop, spec: { ...stop.spec, subject: { ...stop.spec.subject, namespace: "other" } } };
  expect(next("Recover", second, elsewhere)).toBe("second");
  const ofWorkload: Decision = { ...stop, spec: { ...stop.spec, cause: "RunawayWorkload" } };
  expect(next("Recover", second, ofWorkload)).toBe("second");
  // Nor does the stop of an avalanche wait for that of a workload, which may wait for a person.
  const both = [{ ...ofWorkload, metadata: { ...stop.metadata, name: "workload" } }, stop];
  expect(lanes.flatMap((lane) => nextToCarryOut(both, { term, ...lane })?.metadata.name ?? [])).toEqual([
    ...["stop", "workload"],
  ]);
  // Less memory waits for everything else, and nothing waits for it.
  const lower: Decision = { ...first, spec: { ...first.spec, purpose: "LowerMemory" } };
  expect(next("LowerMemory", lower)).toBe("first");
  expect(next("LowerMemory", lower, second)).toBeUndefined();
  expect(next("LowerMemory", lower, paused)).toBe("first");
  expect(next("Recover", lower, second)).toBe("second");
});

const fine: StepRunner = {
  precondition: () => Promise.resolve(undefined),
  rehearse: () => Promise.resolve(undefined),
  perform: () => Promise.resolve({}),
  check: () => Promise.resolve(undefined),
};

function start(server: GuardedServer, isCurrent = true): { executor: Executor; ended: () => string | undefined } {
  const options = {
    ...server.options({ runners: { Verify: fine } }),
    purpose: "Recover" as const,
    isCurrent: () => isCurrent,
    decisions: () => [server.decision],
  };
  const executor = new Executor(options);
  let ended: string | undefined;
  executor.run().catch((thrown: unknown) => (ended = thrown instanceof Error ? thrown.message : "?"));
  return { executor, ended: () => ended };
}

test("Executor starts an approved Decision within a second or two, and nothing on an old view", async () => {
  const server = new GuardedServer(["Verify"]);
  const blind = start(server, false);
  await server.clock.advance(5_000);
  expect(server.decision.status?.phase).toBe("Approved");
  const { executor } = start(server);
  await server.clock.advance(2_000);
  expect(server.decision.status?.phase).toBe("Succeeded");
  expect(executor.underWay).toBeUndefined();
  server.stop.abort(new Error("told to"));
  await server.clock.advance(1);
  expect(blind.ended()).toBe("told to");
});

test("Executor continues after the API server was unreachable, and ends when it is refused", async () => {
  const server = new GuardedServer(["Verify"]);
  server.answer = () => new KubeError("api-unreachable", "away");
  const { ended, executor } = start(server);
  await server.clock.advance(30_000);
  expect(ended()).toBeUndefined();
  server.answer = ({ path }) => (path.endsWith("/status") ? refusal(422, "an older leader may not write") : undefined);
  await server.clock.advance(8_000);
  expect(ended()).toBe("an older leader may not write");
  expect(executor.underWay).toBeUndefined();
});

test("Executors of one lane carry out several questions side by side, and none of them twice", async () => {
  const server = new GuardedServer(["Verify"]);
  const taken = new Set<string>();
  const asked = ["ask-shop-1", "ask-shop-2", "ask-shop-3"].map((name): Decision => {
    const { metadata, spec } = server.decision;
    return {
      ...server.decision,
      metadata: { ...metadata, name, uid: `uid-${name}` },
      spec: { ...spec, purpose: "ByHand", cause: "RunawayWorkload" },
    };
  });
  const begun: string[] = [];
  // The first read of each never ends, as the wait for a person.
  const call = ({ path }: KubeRequest): Promise<string> => {
    begun.push(path.slice(path.lastIndexOf("/") + 1));
    return new Promise(() => undefined);
  };
  const options = { ...server.options({ api: { call, lines: () => server.lines() } }), taken, isCurrent: () => true };
  const executors = lanes
    .filter(({ purpose, cause }) => purpose === "ByHand" && cause === "RunawayWorkload")
    .map((lane) => new Executor({ ...options, ...lane, decisions: () => asked }));
  for (const one of executors) one.run().catch(() => undefined);
  await server.clock.advance(5_000);
  expect(begun.toSorted()).toEqual(["ask-shop-1", "ask-shop-2", "ask-shop-3"]);
  expect([...taken].toSorted()).toEqual(begun.toSorted());
  server.stop.abort(new Error("told to"));
});
