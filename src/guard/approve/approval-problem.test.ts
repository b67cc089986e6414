import { expect, test } from "bun:test";
import type { Decision, DecisionApproval, Verdict } from "../decision/decision.ts";
import { parseApproval } from "../decision/parse-approval.ts";
import { planHash } from "../decision/plan-hash.ts";
import { approvalProblem, startProblem } from "./approval-problem.ts";
import { installedPolicies, otherwise } from "./policies.fixture.ts";
import { approvalPolicy, ownerPolicies, policyProblems, type PolicyObject } from "./policy-standing.ts";

const policyTime = "2026-05-10T18:00:00Z";
const approvalTime = "2026-05-10T18:00:05Z";
const installed = installedPolicies(policyTime);
const plan = {
  cause: "OwnerlessPodAvalanche",
  purpose: "StopSource",
  subject: { namespace: "fc", shape: "rd-" },
  steps: [
    {
      id: 1,
      action: "StopSource",
      title: "t",
      kubectl: ["k"],
      preconditions: [],
      check: { what: "w", deadlineSeconds: 60 },
      stopSource: { way: "Label", namespace: "fc", key: "levee.dev/ownerless-pods", value: "deny" },
    },
  ],
} as const;
const hash = planHash(plan);
const decision: Decision = {
  apiVersion: "levee.dev/v1alpha1",
  kind: "Decision",
  metadata: { name: "q", namespace: "levee-system", uid: "u", creationTimestamp: approvalTime },
  spec: { ...plan, summary: "s", evidence: [], chain: [], notes: [], planHash: hash },
};

function approval(spec: Partial<DecisionApproval["spec"]> = {}, creationTimestamp = approvalTime): DecisionApproval {
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "DecisionApproval",
    metadata: { name: "yes", namespace: "levee-system", creationTimestamp },
    spec: { decision: "q", decisionUID: "u", planHash: hash, verdict: "Approve", by: { username: "alice" }, ...spec },
  };
}

function problem(change: Partial<Parameters<typeof approvalProblem>[0]> = {}): string | undefined {
  return approvalProblem({ decision, approval: approval(), policies: installed, ...change });
}

test("approvalProblem accepts a person's word on this plan", () => {
  expect(problem()).toBeUndefined();
  expect(problem({ approval: approval({ by: { username: "system:admin" } }) })).toBeUndefined();
});

test.each([
  ["another Decision", { decision: "other" }, "for the Decision levee-system/other"],
  ["an earlier Decision of this name", { decisionUID: "before" }, "an earlier Decision"],
  ["another plan", { planHash: `sha256:${"0".repeat(64)}` }, "for the plan sha256:0000"],
  [
    "this plan, by the guard",
    { by: { username: "system:serviceaccount:levee-system:levee-guard" } },
    "is not a person",
  ],
  ["this plan, by a node", { by: { username: "system:node:a" } }, "is not a person"],
  ["this plan, by an anonymous user", { by: { username: "system:anonymous" } }, "is not a person"],
])("approvalProblem refuses an approval of %s", (_what, spec, words) => {
  expect(problem({ approval: approval(spec) })).toContain(words);
});

test("approvalProblem treats a word that is being deleted as withdrawn, unless it says stop", () => {
  const metadata = { ...approval().metadata, deletionTimestamp: approvalTime };
  const word = (verdict: Verdict): DecisionApproval => ({ ...approval({ verdict }), metadata });
  for (const verdict of ["Approve", "Resume", "ResetBreaker"] as const)
    expect(problem({ approval: word(verdict) })).toBe("it is being deleted");
  for (const verdict of ["Pause", "Reject"] as const) expect(problem({ approval: word(verdict) })).toBeUndefined();
  expect(problem({ approval: parseApproval(word("Approve"))! })).toBe("it is being deleted");
});

test("approvalProblem computes the hash again and refuses a Decision that states another", () => {
  const [step] = plan.steps;
  const steps = [{ ...step, stopSource: { ...step.stopSource, namespace: "kube-system" } }];
  expect(problem({ decision: { ...decision, spec: { ...decision.spec, steps } } })).toContain(
    "does not match its hash",
  );
  // An impossible number must not end the round.
  const odd = [{ ...step, id: 1.5 }];
  expect(problem({ decision: { ...decision, spec: { ...decision.spec, steps: odd } } })).toContain(
    "does not match its hash",
  );
});

test("approvalProblem refuses an approval from another namespace, where others may approve", () => {
  const elsewhere = { ...approval(), metadata: { ...approval().metadata, namespace: "fc" } };
  expect(problem({ approval: elsewhere })).toContain("fc/q");
});

const binding = { name: approvalPolicy, kind: "ValidatingAdmissionPolicyBinding" };
const meta = (change: Partial<PolicyObject["metadata"]>) => (object: PolicyObject) => ({
  ...object,
  metadata: { ...object.metadata, ...change },
});

test.each<[string, readonly PolicyObject[], string]>([
  ["the binding is absent", otherwise(installed, binding, () => undefined), "is not installed"],
  ["the binding goes", otherwise(installed, binding, meta({ deletionTimestamp: approvalTime })), "is being deleted"],
  [
    "the binding only audits",
    otherwise(installed, binding, (object) => ({
      ...object,
      spec: { policyName: approvalPolicy, validationActions: ["Audit"] },
    })),
    "is not as shipped",
  ],
  ["the spec is no JSON", otherwise(installed, binding, (object) => ({ ...object, spec: 1.5 })), "is not as shipped"],
  [
    "the guard is not confined",
    otherwise(installed, { name: "levee-guard-changes-memory-only" }, () => undefined),
    "levee-guard-changes-memory-only is not installed",
  ],
  [
    "the binding came in the same second",
    otherwise(installed, binding, meta({ creationTimestamp: approvalTime })),
    "may be forged",
  ],
  [
    "the binding came 4 s before",
    otherwise(installed, binding, meta({ creationTimestamp: "2026-05-10T18:00:01Z" })),
    "may be forged",
  ],
  [
    "the policy was changed and changed back",
    otherwise(installed, binding, meta({ generation: 3, managedFields: [{ time: approvalTime }] })),
    "may be forged",
  ],
  [
    "the policy was changed, and who did it wiped",
    otherwise(installed, binding, meta({ generation: 3, managedFields: [] })),
    "may be forged",
  ],
  ["a time cannot be read", otherwise(installed, binding, meta({ creationTimestamp: "" })), "may be forged"],
])("approvalProblem refuses when %s", (_what, policies, words) => {
  expect(problem({ policies })).toContain(words);
});

test("approvalProblem does not count the status of a policy as a change", () => {
  const checked = meta({ managedFields: [{ time: policyTime }, { time: approvalTime, subresource: "status" }] });
  expect(problem({ policies: otherwise(installed, { name: approvalPolicy }, checked) })).toBeUndefined();
});

test("policyProblems asks for the owner policy and its denying binding, whatever the warning one is like", () => {
  const warn = { name: "levee-pods-need-a-controller-owner-warn" };
  expect(
    policyProblems(
      otherwise(installed, warn, () => undefined),
      ownerPolicies,
    ),
  ).toEqual([]);
  const deny = { name: "levee-pods-need-a-controller-owner-deny" };
  expect(
    policyProblems(
      otherwise(installed, deny, () => undefined),
      ownerPolicies,
    ),
  ).toHaveLength(1);
  expect(policyProblems([], ownerPolicies)).toHaveLength(2);
});

test("startProblem lets an approval begin for 15 minutes", () => {
  const madeMs = Date.parse(approvalTime);
  expect(startProblem(approval(), madeMs + 15 * 60_000)).toBeUndefined();
  expect(startProblem(approval(), madeMs + 16 * 60_000)).toContain("16 minutes old");
  expect(startProblem(approval({}, ""), madeMs)).toContain("no creation time");
});

test("approvalProblem names how the plan has changed since, and hears a word that says stop all the same", () => {
  const earlier = `sha256:${"9".repeat(64)}`;
  const revisions = [{ at: "2026-05-10T18:00:04Z", planHash: earlier, change: "25 more pods" }];
  const revised = { ...decision, spec: { ...decision.spec, revisions } };
  const about = (verdict: Verdict): string | undefined =>
    problem({ decision: revised, approval: approval({ planHash: earlier, verdict }) });
  for (const verdict of ["Approve", "Resume", "ResetBreaker"] as const)
    expect(about(verdict)).toBe(
      "it is for the plan before 2026-05-10T18:00:04Z, which has changed since (25 more pods): read the new one and approve that",
    );
  for (const verdict of ["Reject", "Pause"] as const) expect(about(verdict)).toBeUndefined();
});
