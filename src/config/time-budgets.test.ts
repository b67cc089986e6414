import { describe, expect, test } from "bun:test";
import { budgetProblems } from "./time-budgets.ts";
import { numberKnobs, type NumberKnobKey } from "./knobs.ts";

function settings(changed: Partial<Record<NumberKnobKey, number>> = {}): Record<NumberKnobKey, number> {
  const defaults = Object.fromEntries(Object.entries(numberKnobs).map(([key, knob]) => [key, knob.default]));
  return { ...(defaults as Record<NumberKnobKey, number>), ...changed };
}

describe("budgetProblems", () => {
  test("finds none in the defaults, nor in a budget that leaves the line nothing", () => {
    expect(budgetProblems(settings())).toEqual([]);
    expect(budgetProblems(settings({ addBudgetMs: 40_000 }))).toEqual([]);
    expect(budgetProblems(settings({ addBudgetMs: 39_999 }))).toHaveLength(1);
  });

  test("names the parts, the sum and the way out", () => {
    expect(budgetProblems(settings({ addDelegatesMs: 99_000 }))).toEqual([
      {
        key: "addBudgetMs",
        seen: "110000",
        remedy:
          "set at least 114000, the sum of addLookupMs 5000 + addDelegatesMs 99000 + addUndoMs 8000 + 2000 for closing, or shorten a part",
      },
    ]);
  });

  test.each<NumberKnobKey>(["addLookupMs", "addDelegatesMs", "addUndoMs"])("counts %s towards an ADD", (part) => {
    expect(budgetProblems(settings({ [part]: numberKnobs[part].default + 70_000 }))).toEqual([]);
    expect(budgetProblems(settings({ [part]: numberKnobs[part].default + 70_001 })).map(({ key }) => key)).toEqual([
      "addBudgetMs",
    ]);
  });

  test("lets the line have what is left of an ADD", () => {
    expect(budgetProblems(settings({ addBudgetMs: 55_000, addQueueMs: 60_000 }))).toEqual([]);
  });

  test.each<[NumberKnobKey, number]>([
    ["delPatienceMs", 12_000],
    ["delQueueMs", 46_000],
    ["delDelegatesMs", 46_000],
  ])("counts %s towards a DEL, whose plugins use the time that it did not wait", (part, mostMs) => {
    expect(budgetProblems(settings({ [part]: mostMs }))).toEqual([]);
    expect(budgetProblems(settings({ [part]: mostMs + 1 })).map(({ key }) => key)).toEqual(["delBudgetMs"]);
  });

  test("wants a lost daemon to be noticed within either call", () => {
    const short = {
      addBudgetMs: 9_000,
      addQueueMs: 1_000,
      addLookupMs: 1_000,
      addDelegatesMs: 2_000,
      addUndoMs: 3_000,
    };
    expect(budgetProblems(settings({ ...short, heartbeatMs: 2_999 }))).toEqual([]);
    expect(budgetProblems(settings({ ...short, heartbeatMs: 3_000 }))).toEqual([
      {
        key: "heartbeatMs",
        seen: "3000",
        remedy: "set less than a third of addBudgetMs (9000), so that a shim notices a lost daemon within a call",
      },
    ]);
  });

  test("reports ADD, DEL and heartbeat together", () => {
    expect(budgetProblems(settings({ addBudgetMs: 5_000, delBudgetMs: 5_000 })).map(({ key }) => key)).toEqual([
      "addBudgetMs",
      "delBudgetMs",
      "heartbeatMs",
      "heartbeatMs",
    ]);
  });
});
