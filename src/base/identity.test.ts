import { expect, test } from "bun:test";
import { isCertainlySameNetns, sameNetns, type NetnsIdentity } from "./identity.ts";

const plain: NetnsIdentity = { device: 4n, inode: 9n };

test("sameNetns: equal numbers count until something that both know tells them apart", () => {
  const cases: readonly (readonly [NetnsIdentity | undefined, NetnsIdentity | undefined, boolean])[] = [
    [plain, { ...plain }, true],
    [plain, undefined, false],
    [undefined, undefined, false],
    [plain, { ...plain, inode: 8n }, false],
    [plain, { ...plain, device: 5n }, false],
    [{ ...plain, cookie: 1n }, { ...plain, cookie: 1n }, true],
    [{ ...plain, cookie: 1n }, { ...plain, cookie: 2n }, false],
    [{ ...plain, cookie: 1n }, plain, true],
    [{ ...plain, ctimeNs: 1n }, { ...plain, ctimeNs: 1n }, true],
    [{ ...plain, ctimeNs: 1n }, { ...plain, ctimeNs: 2n }, false],
    [{ ...plain, ctimeNs: 1n }, { ...plain, cookie: 2n }, true],
    [{ ...plain, ctimeNs: 1n, cookie: 2n }, { ...plain, ctimeNs: 3n, cookie: 2n }, true],
  ];
  for (const [left, right, isSame] of cases) {
    expect([left, right, sameNetns(left, right)]).toEqual([left, right, isSame]);
    expect(sameNetns(right, left)).toBe(isSame);
  }
});

test("isCertainlySameNetns: only cookies prove it", () => {
  expect(isCertainlySameNetns(plain, plain)).toBe(false);
  expect(isCertainlySameNetns({ ...plain, cookie: 1n }, plain)).toBe(false);
  expect(isCertainlySameNetns({ ...plain, ctimeNs: 1n }, { ...plain, ctimeNs: 1n })).toBe(false);
  expect(isCertainlySameNetns({ ...plain, cookie: 1n }, { ...plain, cookie: 1n })).toBe(true);
});
