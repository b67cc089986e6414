import { expect, test } from "bun:test";
import { canonicalJson, planHash, type Plan } from "./plan-hash.ts";

const plan: Plan = {
  cause: "OwnerlessPodAvalanche",
  purpose: "Recover",
  subject: { namespace: "fc-desktop", shape: "rd-" },
  steps: [
    {
      id: 1,
      action: "RemovePods",
      title: "Remove 1 pod",
      kubectl: ["kubectl get pods"],
      preconditions: [],
      check: { what: "it is gone", deadlineSeconds: 300 },
      removePods: { namespace: "fc-desktop", batchPerNode: 10, forceAfterSeconds: 60, presentMin: 20 },
      targets: [{ namespace: "fc-desktop", name: "rd-1", uid: "u-1", node: "n1" }],
    },
  ],
};

test("planHash is the same for a plan that went through the API server with its keys in another order", () => {
  const [step] = plan.steps;
  const turned = Object.fromEntries(Object.entries(step!).toReversed());
  const again = {
    steps: [turned],
    subject: { shape: "rd-", namespace: "fc-desktop" },
    purpose: plan.purpose,
    cause: plan.cause,
  };
  expect(planHash(again as unknown as Plan)).toBe(planHash(plan));
});

test("planHash needs only sorted JSON and SHA-256", () => {
  // From Python: json.dumps(plan, sort_keys=True, separators=(",", ":")).
  expect(planHash(plan)).toBe("sha256:cd12aaf461a0f347727d4fe9389740698a04e60d4e21fafdf1f2411d3c977300");
});

for (const [what, from, to] of [
  ["a target's UID", '"u-1"', '"u-2"'],
  ["a target's node", '"n1"', '"n2"'],
  ["a parameter", "60", "61"],
  ["a step's line for people", "kubectl get", "kubectl delete"],
  ["the namespace", "fc-desktop", "fc-desktup"],
  ["the purpose", "Recover", "StopSource"],
] as const) {
  test(`planHash changes with ${what}`, () => {
    const other = JSON.parse(JSON.stringify(plan).replaceAll(from, to)) as Plan;
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
