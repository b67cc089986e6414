import { expect, test } from "bun:test";
import type { AdmissionFacts } from "../../admission/facts.ts";
import { stormSign } from "./storm-sign.ts";

const calm: AdmissionFacts = {
  limit: 4,
  ceiling: 8,
  isSlowStart: false,
  detachLimit: 4,
  detachCeiling: 8,
  attaching: 3,
  detaching: 1,
  hung: 1,
  waiting: { critical: 0, ordinary: 0, penalty: 0, detach: 0 },
  classes: [],
  oldestWaitMs: 0,
  ownMemory: "free",
  pressure: "severe",
  delegateBytes: 0,
  delegateBytesMax: undefined,
  heldPods: 2,
  openNetworks: [],
  flows: [],
};

const open = { network: "prod/lan", sinceMs: 0, failures: 3, reason: "no such device", nextProbeMs: 0 };

test("stormSign: calls that run, hang or are held are no storm, nor is another network that fails", () => {
  expect(stormSign(calm, "prod/lan", false)).toBeUndefined();
  const other = { ...calm, openNetworks: [{ ...open, network: "prod/wan" }] };
  expect(stormSign(other, "prod/lan", false)).toBeUndefined();
});

const storms: readonly (readonly [string, Partial<AdmissionFacts>, boolean, string])[] = [
  ["one that waits", { waiting: { detach: 1 } }, false, "1 call waits in line on this node"],
  ["several of several classes", { waiting: { critical: 2, ordinary: 3 } }, false, "5 calls wait in line on this node"],
  ["critical pods that go first", {}, true, "ADDs are held back on this node until its critical pods"],
  ["a daemon with little memory", { ownMemory: "frozen" }, false, "the daemon is short of memory"],
  ["a network that fails for all", { openNetworks: [open] }, false, "this network fails for every pod of this node"],
];

test.each(storms)("stormSign: %s", (_what, change, isHolding, words) => {
  expect(stormSign({ ...calm, ...change }, "prod/lan", isHolding)).toStartWith(words);
});
