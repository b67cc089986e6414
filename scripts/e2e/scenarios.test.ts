import { expect, test } from "bun:test";
import { againOf } from "./scenarios.ts";

const names = ["basic", "drain", "reboot", "versions", "new-runtime", "daemon-away", "api-away"];

test.each<[string, string[], string[]]>([
  ["nothing failed", [], []],
  ["one failed, twice", ["drain", "drain"], ["drain"]],
  ["the cluster did not start", ["", ""], names],
  ["one failed and then the end", ["drain", ""], []],
  ["a name that was not asked for", ["drain", "other"], []],
  ["too many", ["basic", "drain", "reboot", "versions"], []],
  ["one that runs on another runtime", ["api-away"], ["new-runtime", "api-away"]],
  ["the other runtime itself", ["new-runtime"], ["new-runtime"]],
])("againOf: %s", (_, failed, again) => expect(againOf(failed, names)).toEqual(again));

test("againOf installs no other runtime that was not asked for", () => {
  expect(againOf(["api-away"], ["basic", "api-away"])).toEqual(["api-away"]);
});
