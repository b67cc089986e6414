import { expect, test } from "bun:test";
import { attachRequest } from "./admission.fixture.ts";
import { classOf, criticalNamespaces } from "./request.ts";

const rules = { criticalNamespaces, isOverBudget: (pod: string) => pod === "a/over" };

test.each([
  ["exempt", { kind: "other", priority: 2_000_001_000 }],
  ["detach", { kind: "detach", priority: 2_000_001_000 }],
  ["critical", { priority: 2_000_000_000 }],
  ["critical", { namespace: "kube-system", priority: undefined }],
  ["critical", { pod: "a/over", priority: 2_000_001_000 }],
  ["critical", { isResumed: true }],
  ["ordinary", { priority: 1_999_999_999 }],
  ["ordinary", { priority: undefined }],
  ["penalty", { pod: "a/over" }],
] as const)("classOf: %s for %j", (admissionClass, facts) => {
  expect(classOf(attachRequest(facts), rules)).toBe(admissionClass);
});
