import { expect, test } from "bun:test";
import {
  budgetNotes,
  emptyBudget,
  parseBudget,
  printBudget,
  resetBreaker,
  spend,
  type RemovalBudget,
  type Spending,
} from "./removal-budget.ts";

const limits = { podsPerMinute: 100, podsPerNamespacePerDay: 250, podsPerDay: 400 };
const nowMs = Date.parse("2026-05-10T23:30:00Z");
const minuteMs = 60_000;

/** Asks every minute until everything is granted or nothing more is. */
function removeAll(
  budget: RemovalBudget,
  namespace: string,
  pods: number,
  fromMs = nowMs,
): { budget: RemovalBudget; minutes: number; last: Spending } {
  let [left, atMs, kept, minutes] = [pods, fromMs, budget, 0];
  for (;;) {
    const last = spend(kept, { namespace, pods: left, nowMs: atMs }, limits);
    if (last.verdict === "Open") return { budget: last.budget, minutes, last };
    if (last.verdict === "Wait") {
      atMs += last.waitMs;
      minutes += 1;
      continue;
    }
    // As the next leader reads it from the cluster.
    kept = parseBudget(printBudget(last.budget));
    left -= last.pods;
    if (left === 0) return { budget: kept, minutes, last };
  }
}

test("spend paces by the minute and grants all of an outage", () => {
  const { minutes, last } = removeAll(emptyBudget, "fc-desktop", 219);
  expect([minutes, last.verdict]).toEqual([2, "Go"]);
});

test("spend never grants more than a minute's worth, and says how long to wait", () => {
  const first = spend(emptyBudget, { namespace: "a", pods: 150, nowMs }, limits);
  expect(first).toMatchObject({ verdict: "Go", pods: 100 });
  const budget = first.verdict === "Go" ? first.budget : emptyBudget;
  expect(spend(budget, { namespace: "a", pods: 50, nowMs: nowMs + 15_000 }, limits)).toEqual({
    verdict: "Wait",
    waitMs: 45_000,
  });
});

test("spend opens the breaker at the namespace's limit, and it stays open for all namespaces", () => {
  const { budget } = removeAll(emptyBudget, "a", 200);
  const asked = { namespace: "a", pods: 51, nowMs: nowMs + 10 * minuteMs };
  const end = spend(budget, asked, limits);
  expect(end).toMatchObject({
    verdict: "Open",
    why: "251 pods of a in a day would be more than 250, at 2026-05-10T23:40:00Z",
  });
  const kept = parseBudget(printBudget(end.verdict === "Open" ? end.budget : emptyBudget));
  expect(spend(kept, { namespace: "b", pods: 1, nowMs: nowMs + 100 * 24 * 60 * minuteMs }, limits).verdict).toBe(
    "Open",
  );
});

test("spend opens the breaker at the limit of all namespaces together", () => {
  const { budget } = removeAll(emptyBudget, "a", 250);
  expect(removeAll(budget, "b", 151, nowMs + 10 * minuteMs).last).toMatchObject({ verdict: "Open" });
  expect(removeAll(budget, "b", 150, nowMs + 10 * minuteMs).last).toMatchObject({ verdict: "Go" });
});

test("spend counts the last 24 hours, and midnight resets nothing", () => {
  const { budget } = removeAll(emptyBudget, "a", 250);
  const one = (hours: number): string =>
    spend(budget, { namespace: "a", pods: 1, nowMs: nowMs + hours * 60 * minuteMs }, limits).verdict;
  expect([one(1), one(23), one(26)]).toEqual(["Open", "Open", "Go"]);
});

test("resetBreaker resets the daily counts, not the minute", () => {
  const { budget } = removeAll(emptyBudget, "a", 250);
  const open = spend(budget, { namespace: "a", pods: 1, nowMs: nowMs + 2 * minuteMs }, limits);
  const reset = resetBreaker(open.verdict === "Open" ? open.budget : emptyBudget);
  expect(spend(reset, { namespace: "a", pods: 250, nowMs: nowMs + 60 * minuteMs }, limits)).toMatchObject({
    verdict: "Go",
    pods: 100,
  });
  expect(reset.inMinute).toBe(budget.inMinute);
});

test("parseBudget treats no text as a new cluster, and unreadable text as an open breaker", () => {
  expect(parseBudget(undefined)).toEqual(emptyBudget);
  for (const text of ["", "{", "7", "{}", '{"hours":[]}']) expect(parseBudget(text).breaker).not.toBe("");
  expect(parseBudget('{"hours":{"5":{"a":-3,"b":"x"}},"minute":1.5}')).toEqual({
    ...emptyBudget,
    hours: { "5": { a: 0, b: 0 } },
  });
});

test("budgetNotes gives the open breaker first, then the limits and their use", () => {
  const { budget } = removeAll(emptyBudget, "a", 219);
  expect(budgetNotes(budget, limits, nowMs)).toEqual([
    "The guard removes at most 100 pods a minute, 250 a day in one namespace and 400 in all; 219 in the last day",
  ]);
  expect(budgetNotes({ ...budget, breaker: "too many" }, limits, nowMs)[0]).toContain("The breaker is open");
});
