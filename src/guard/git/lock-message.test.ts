import { expect, test } from "bun:test";
import { propose } from "../decide/propose.ts";
import type { Decision } from "../decision/decision.ts";
import type { LockToGitStep } from "../decision/step.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import { outage } from "../outage.fixture.ts";
import { lockMessage } from "./lock-message.ts";

const recover = propose(outage(), defaultGuardSettings)[1]!;
const step = recover.spec.steps.find((one): one is LockToGitStep => one.action === "LockToGit")!;

function messageOf(path: string, changes: Partial<Decision["spec"]> = {}): readonly string[] {
  const decision: Decision = {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name: recover.name, namespace: "levee-system", uid: "u" },
    spec: { ...recover.spec, ...changes },
  };
  return lockMessage({ ...step, lockToGit: { ...step.lockToGit, path } }, decision).split("\n");
}

test.each([
  ["apps/multus/multus.yaml", /^Raise the memory limit in apps\/multus\/multus\.yaml from 50Mi to \S+$/u],
  // The values stay, and of the path its end.
  [
    `${"clusters/production/".repeat(6)}multus.yaml`,
    /^Raise the memory limit in (?:\S+\/)?multus\.yaml from 50Mi to \S+$/u,
  ],
  [`${"m".repeat(90)}.yaml`, /^Raise a memory limit from 50Mi to \S+$/u],
])("lockMessage has a subject of whole words for %s", (path, subject) => {
  const [first = "", second, ...body] = messageOf(path);
  expect(first).toMatch(subject);
  expect(first.length).toBeLessThanOrEqual(72);
  expect(second).toBe("");
  expect(body.join("\n")).toContain(path);
});

test("lockMessage ends a line that is too long after a whole word", () => {
  const words = Array.from({ length: 80 }, (_, index) => `word${index}`);
  const fact = { fact: words.join(" "), value: 1, at: "2026-05-10T19:00:00Z", detail: "" };
  const line = messageOf("a.yaml", { evidence: [fact] }).find((one) => one.startsWith("- word0 ")) ?? "";
  expect(line).toEndWith(" …");
  expect(words).toContain(line.split(" ").at(-2) ?? "");
});
