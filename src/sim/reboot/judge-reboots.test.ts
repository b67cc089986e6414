import { expect, test } from "bun:test";
import type { RebootEnd } from "./reboot-end.ts";
import { judgeReboots } from "./judge-reboots.ts";

function facts(backsMs: readonly (number | undefined)[], isInterrupted = false): Omit<RebootEnd, "broken"> {
  const records = backsMs.map((backMs, at) => ({
    node: `node-${at + 1}`,
    dueMs: 0,
    allowedMs: undefined,
    rebootedMs: undefined,
    backMs,
    heldMs: new Map<string, number>(),
  }));
  // What a judgement reads.
  return { plan: { withinMs: 60_000 }, records, isInterrupted } as unknown as Omit<RebootEnd, "broken">;
}

test("judgeReboots names nodes that are missing, and those that came late", () => {
  expect(judgeReboots(facts([60_000, 1]), []).broken).toEqual([]);
  expect(judgeReboots(facts([60_001, undefined]), []).broken).toEqual([
    "1 of 2 nodes were not rebooted within 1 min, such as node-2",
    "1 of 2 nodes waited longer than 1 min, such as node-1",
  ]);
});

test("judgeReboots tells of each broken rule once, also of a run that was ended early", () => {
  const rules = ["open-door", "one-reboot", "open-door"].map((rule, at) => ({ rule, text: `text ${at}` }));
  expect(judgeReboots(facts([undefined], true), rules).broken).toEqual([
    "the rule open-door was broken: text 0, and once more",
    "the rule one-reboot was broken: text 1",
  ]);
});
