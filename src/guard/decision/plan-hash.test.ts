import { expect, test } from "bun:test";
import { canonicalJson, planHash } from "./plan-hash.ts";
import type { Step } from "./step.ts";

const plan: readonly Step[] = [
  {
    id: 1,
    type: "RemovePods",
    what: "Remove 1 pod of fc-desktop",
    check: { rule: "TargetsGone", what: "it is gone", deadlineSeconds: 60 },
    kubectl: ["kubectl get pods"],
    removePods: { batchPerNode: 10, force: true, causeMin: 20 },
    targets: [{ namespace: "fc-desktop", name: "rd-1", uid: "u-1", node: "n1" }],
  },
];

test("planHash is the same for a plan that went through the API server with its keys in another order", () => {
  const [step] = plan;
  const turned = [Object.fromEntries(Object.entries(step!).toReversed())];
  expect(planHash(turned as unknown as readonly Step[])).toBe(planHash(plan));
});

test("planHash can be computed by anybody with sorted JSON and SHA-256", () => {
  // Of Python: json.dumps(steps, sort_keys=True, separators=(",", ":")).
  expect(planHash(plan)).toBe("sha256:f6e8bf24dc51b8e5db4af710593ee04c01dc765b1d67e029606b42eeb8ac3cb2");
});

for (const [what, from, to] of [
  ["a target's UID", '"u-1"', '"u-2"'],
  ["a target's node", '"n1"', '"n2"'],
  ["a parameter", "60", "61"],
  ["a step's line for people", "kubectl get", "kubectl delete"],
  ["the force of a removal", "true", "false"],
] as const) {
  test(`planHash changes with ${what}`, () => {
    const other = JSON.parse(JSON.stringify(plan).replaceAll(from, to)) as readonly Step[];
    expect(planHash(other)).not.toBe(planHash(plan));
  });
}

test("canonicalJson sorts keys, leaves out what is undefined and keeps the order of lists", () => {
  expect(canonicalJson({ b: [2, 1], a: undefined, é: null, c: { z: true, y: '"\n' } })).toBe(
    '{"b":[2,1],"c":{"y":"\\"\\n","z":true},"é":null}',
  );
});

for (const value of [1.5, Number.NaN, 2 ** 53, () => 1, 7n]) {
  test(`canonicalJson refuses ${String(value)}`, () => {
    expect(() => canonicalJson({ value })).toThrow(TypeError);
  });
}
