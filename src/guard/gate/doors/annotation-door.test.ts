import { expect, test } from "bun:test";
import type { RebootGate } from "../../../wire/reboot-gate.ts";
import { gateNodes, gateNowMs } from "../gate.fixture.ts";
import { annotationChanges } from "./annotation-door.ts";

const reason = { code: "FiringAlert", message: "m", sinceMs: 1, object: "Alert/a", remedy: "r" } as const;
const denied: RebootGate = {
  node: "k8s-master",
  verdict: "Deny",
  reasons: [reason, reason],
  observedAtMs: gateNowMs,
  expiresAtMs: gateNowMs + 120_000,
  exceptions: [],
};
const gates = new Map([["k8s-master", denied]]);

test("annotationChanges says allow with an end, or deny with the codes", () => {
  expect(annotationChanges(gateNodes, gates, new Set())).toEqual([{ node: "k8s-master", to: "deny FiringAlert ×2" }]);
  const open = new Map([["k8s-master", { ...denied, verdict: "Allow", reasons: [] } as const]]);
  expect(annotationChanges(gateNodes, open, new Set(["k8s-master"]))).toEqual([
    { node: "k8s-master", to: "allow until 2026-05-30T03:42:00Z" },
  ]);
  // A verdict that could not be written opens nothing.
  expect(annotationChanges(gateNodes, open, new Set())).toEqual([{ node: "k8s-master", to: "deny" }]);
});

test("annotationChanges takes away what has no gate, first, and leaves alone what is so", () => {
  const nodes = gateNodes.map((node) => ({
    ...node,
    gateAnnotation: node.name === "k8s-master" ? "deny FiringAlert ×2" : "allow until 2026-05-30T03:00:00Z",
  }));
  expect(annotationChanges(nodes, gates, new Set())).toEqual([
    { node: "k8s-node1", to: null },
    { node: "k8s-node2", to: null },
  ]);
});
