import { expect, test } from "bun:test";
import { otherwise } from "../approve/policies.fixture.ts";
import { gateNowMs as nowMs, policies } from "./gate.fixture.ts";
import { exceptionProblem, overrideProblem } from "./gate-words.ts";
import { parseRebootException, type RebootException } from "./reboot-exception.ts";
import { parseRebootOverride, type RebootOverride } from "./reboot-override.ts";

const hourMs = 3_600_000;
const exception: RebootException = {
  namespace: "levee-system",
  name: "offsite",
  match: { alertname: "NodeFilesystemFull" },
  reason: "the NAS is full",
  by: "alice",
  createdMs: nowMs - hourMs,
  untilMs: nowMs + hourMs,
};
const override: RebootOverride = {
  namespace: "levee-system",
  name: "o",
  node: "n1",
  reason: "now",
  by: "alice",
  createdMs: nowMs - hourMs,
  untilMs: nowMs + hourMs,
  isDeleting: false,
};

test("exceptionProblem and overrideProblem find nothing against a person's current word", () => {
  expect(exceptionProblem(exception, policies, nowMs)).toBeUndefined();
  expect(overrideProblem(override, policies, nowMs)).toBeUndefined();
});

for (const [changes, words] of [
  [{ by: "system:serviceaccount:levee-system:levee-guard" }, "is not a person"],
  [{ by: "" }, "is not a person"],
  [{ reason: "  " }, "no reason"],
  [{ untilMs: nowMs }, "expired"],
  [{ createdMs: 0 }, "time of creation"],
  [{ createdMs: nowMs + 120_000 }, "time of creation"],
  [{ createdMs: Date.parse("2026-05-01T00:00:04Z"), untilMs: nowMs + 1 }, "not 5 s older"],
] as const)
  test(`exceptionProblem says ${words} for ${JSON.stringify(changes)}`, () => {
    expect(exceptionProblem({ ...exception, ...changes }, policies, nowMs)).toContain(words);
  });

test("an override lasts four hours and an exception 90 days, and neither counts without its policy", () => {
  expect(overrideProblem({ ...override, untilMs: nowMs + 3 * hourMs + 1 }, policies, nowMs)).toContain("4 hours");
  expect(overrideProblem({ ...override, isDeleting: true }, policies, nowMs)).toBe("it is being deleted");
  const tooLong = { ...exception, untilMs: exception.createdMs + 91 * 24 * hourMs };
  expect(exceptionProblem(tooLong, policies, nowMs)).toContain("2160 hours");
  const name = "levee-reboot-exception-names-its-author";
  expect(
    exceptionProblem(
      exception,
      otherwise(policies, { name }, () => undefined),
      nowMs,
    ),
  ).toContain("is not installed");
});

test("parseRebootException and parseRebootOverride take what the definitions take", () => {
  const metadata = { name: "x", namespace: "levee-system", creationTimestamp: "2026-05-30T03:00:00Z" };
  const by = { username: "alice" };
  const until = "2026-05-30T04:00:00Z";
  expect(parseRebootException({ metadata, spec: { match: { alertname: "A" }, reason: "r", until, by } })).toMatchObject(
    {
      match: { alertname: "A" },
      untilMs: Date.parse(until),
    },
  );
  expect(parseRebootException({ metadata, spec: { match: {}, reason: "r", until, by } })).toBeUndefined();
  expect(parseRebootException({ metadata, spec: { match: { a: "" }, reason: "r", until, by } })).toBeUndefined();
  const gate = { node: "n1", until };
  expect(parseRebootOverride({ metadata, spec: { gate, verdict: "Allow", reason: "r", by } })).toMatchObject({
    node: "n1",
  });
  expect(parseRebootOverride({ metadata, spec: { gate, verdict: "Approve", reason: "r", by } })).toBeUndefined();
  expect(parseRebootOverride({ metadata, spec: { decision: "d", verdict: "Approve", by } })).toBeUndefined();
});
