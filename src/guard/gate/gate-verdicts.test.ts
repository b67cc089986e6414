import { expect, test } from "bun:test";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { World } from "../facts/world.ts";
import { gateNodes, gateNowMs, markedMs, markedView, someGateFacts, viewOf } from "./gate.fixture.ts";
import type { GateWorld } from "./gate-facts-of.ts";
import { turnMs } from "./gate-turn.ts";
import { blindVerdicts, gateVerdicts, type GatesBefore } from "./gate-verdicts.ts";
import { defaultGateSettings as settings } from "./gate-settings.ts";

function judge(
  facts: Partial<World> = {},
  more: Partial<Omit<GateWorld, "world">> = {},
  before: readonly RebootGate[] = [],
): readonly RebootGate[] {
  return gateVerdicts(someGateFacts(facts, more), byNode(before));
}

function byNode(gates: readonly RebootGate[]): GatesBefore {
  return new Map(gates.map((gate) => [gate.node, gate]));
}

const alert = { name: "TargetDown", labels: {}, startsMs: gateNowMs - 60_000 };
const word = {
  namespace: "levee-system",
  name: "allow-1",
  node: "k8s-node1",
  untilMs: gateNowMs + 60_000,
  reason: "new kernel",
  by: "alice",
  createdMs: gateNowMs - 1_000,
  isDeleting: false,
};

test("gateVerdicts has a gate for the node with a mark, and for no other", () => {
  expect(judge()).toEqual([
    {
      node: "k8s-master",
      verdict: "Allow",
      reasons: [],
      rebootRequiredSinceMs: markedMs,
      observedAtMs: gateNowMs,
      expiresAtMs: gateNowMs + 120_000,
      allowedSinceMs: gateNowMs,
      exceptions: [],
    },
  ]);
  expect(judge({ nodeViews: [viewOf("k8s-master")] })).toEqual([]);
});

test("gateVerdicts denies with reasons, and a reason keeps its first time", () => {
  const [denied] = judge({ alertsUnread: "silent", alerts: [alert] });
  expect(denied).toMatchObject({ verdict: "Deny", reasons: [{ code: "FiringAlert" }, { code: "AlertsUnreadable" }] });
  const later = { ...denied!, reasons: denied!.reasons.map((reason) => ({ ...reason, sinceMs: 42 })) };
  expect(judge({ alerts: [alert] }, {}, [later])[0]?.reasons).toMatchObject([{ sinceMs: 42 }]);
});

test("gateVerdicts keeps a gate whose node is silent as Unknown, and drops it once the mark is gone", () => {
  const [open] = judge();
  expect(judge({ nodeViews: [] }, {}, [open!])).toMatchObject([
    { verdict: "Unknown", reasons: [{ code: "NodeUnheard" }], rebootRequiredSinceMs: markedMs },
  ]);
  expect(judge({ nodeViews: [viewOf("k8s-master")] }, {}, [open!])).toEqual([]);
  expect(judge({ nodes: gateNodes.slice(1), nodeViews: [] }, {}, [open!])).toEqual([]);
});

test("gateVerdicts lets a person's word pass in spite of reasons, for as long as it lasts", () => {
  const found = judge({ alerts: [alert] }, { overrides: [word] });
  expect(found).toMatchObject([
    { node: "k8s-master", verdict: "Deny" },
    { node: "k8s-node1", verdict: "Allow", expiresAtMs: word.untilMs, override: { name: "allow-1", by: "alice" } },
  ]);
  // Its reasons stay in sight.
  expect(found[1]?.reasons).toMatchObject([{ code: "FiringAlert" }]);
});

const twoMarked = {
  nodeViews: [markedView, viewOf("k8s-node1", { isRebootRequired: true, rebootRequiredSinceMs: markedMs - 1 })],
};

test("gateVerdicts lets one node through at a time, the one that has waited longest first", () => {
  expect(judge(twoMarked)).toMatchObject([
    { node: "k8s-master", verdict: "Deny", reasons: [{ code: "WaitsForTurn", object: "Node/k8s-node1" }] },
    { node: "k8s-node1", verdict: "Allow" },
  ]);
  const both = judge(twoMarked, { settings: { ...settings, atOnce: 2 } });
  expect(both.map(({ verdict }) => verdict)).toEqual(["Allow", "Allow"]);
});

test("gateVerdicts leaves the turn with the node that has it, until two hours are over", () => {
  const turns = (agoMs: number): Partial<GateWorld> => ({ turns: new Map([["k8s-master", gateNowMs - agoMs]]) });
  expect(judge(twoMarked, turns(turnMs - 1)).map(({ verdict }) => verdict)).toEqual(["Allow", "Deny"]);
  expect(judge(twoMarked, turns(turnMs)).map(({ verdict }) => verdict)).toEqual(["Deny", "Allow"]);
});

test("blindVerdicts allows nothing and takes nothing away", () => {
  const [open] = judge({}, { overrides: [{ ...word, node: "k8s-master" }] });
  const [blind] = blindVerdicts(byNode([open!]), { nowMs: gateNowMs + 1, settings });
  expect(blind).toMatchObject({
    verdict: "Unknown",
    reasons: [{ code: "GuardBlind" }],
    rebootRequiredSinceMs: markedMs,
  });
  expect(blind?.override).toBeUndefined();
  expect(blind?.allowedSinceMs).toBeUndefined();
});
