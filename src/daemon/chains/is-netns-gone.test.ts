import { expect, test } from "bun:test";
import type { FoundFile } from "../../wire/outcome.ts";
import { isNetnsGone } from "./is-netns-gone.ts";

const identity = { device: 4n, inode: 4_026_532_000n };
const path = "/var/run/netns/web";

function hand(found: Partial<FoundFile> | undefined | Error) {
  return {
    stat: () => (found instanceof Error ? Promise.reject(found) : Promise.resolve([found as FoundFile | undefined])),
  };
}

test.each([
  ["the path leads to it", identity, false],
  ["there is no such path", undefined, true],
  ["the path leads to another one", { ...identity, inode: 4_026_532_001n }, true],
  ["the hand is lost", new Error("lost"), false],
])("isNetnsGone when %s", async (_what, found, isGone) => {
  expect(await isNetnsGone(hand(found), path, identity)).toBe(isGone);
});

test("isNetnsGone without a namespace asks nobody", async () => {
  expect(await isNetnsGone(hand(new Error("asked")), "", identity)).toBe(false);
  expect(await isNetnsGone(hand(undefined), path, undefined)).toBe(false);
});
