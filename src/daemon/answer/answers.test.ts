import { expect, test } from "bun:test";
import type { GcAnswer, GcFinding } from "../../wire/node-view.ts";
import { answerQuestion } from "./answers.ts";

const findings = Array.from({ length: 5_000 }, (_, index): GcFinding => ({
  what: "attachment",
  namespace: "default",
  pod: `pod${index}`,
  containerId: `${index}`.padStart(64, "0"),
  network: "lan",
  ifname: "eth0",
  address: "",
  why: "its namespace is gone, and so are all processes that were in it when the daemon looked last",
  action: "report",
  detail: "",
}));

function asked(question: object): GcAnswer {
  const answer = { round: 1, finished: 1, finishedWallMs: 1, intervalMs: 0, failure: "", findings, notes: ["a note"] };
  const needs = { gc: { answer: () => answer, ask: () => 1 } } as unknown as Parameters<typeof answerQuestion>[1];
  return answerQuestion(JSON.stringify({ ask: "gc", ...question }), needs) as GcAnswer;
}

test("answerQuestion gives all findings of a round page by page", () => {
  const seen: GcFinding[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: GcAnswer = asked({ after });
    expect(page.notes).toEqual(["a note"]);
    seen.push(...page.findings);
    after = page.next;
  }
  expect(seen).toEqual(findings);
});

test("answerQuestion gives a program without pages the findings that fit into a frame, and says how many do not", () => {
  const answer = asked({});
  expect(answer.findings).toEqual(findings.slice(0, answer.findings.length));
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(1_000_000);
  expect(answer.notes).toEqual(["a note", `${5_000 - answer.findings.length} more findings are not shown`]);
  expect(answer).not.toHaveProperty("next");
});

test("answerQuestion refuses a page that is not text", () => {
  expect(() => asked({ after: 7 })).toThrow("after must be text: current value is 7");
});
