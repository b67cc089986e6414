import { expect, test } from "bun:test";
import { SameWishes, type Wishes } from "./pod-request.ts";

function wishes(definition: object): Wishes {
  return { elements: [], definitions: new Map([["default/a", definition as never]]) };
}

test("SameWishes keeps equal wishes once, and replaces them when a definition has changed", () => {
  const same = new SameWishes();
  const [old, changed] = [{}, {}];
  const first = same.share("a", wishes(old));
  expect(same.share("a", wishes(old))).toBe(first);
  const second = same.share("a", wishes(changed));
  expect(second).not.toBe(first);
  expect(same.share("a", wishes(changed))).toBe(second);
  expect(same.elements("a")).toBe(second.elements);
});

test("SameWishes starts anew when it has too many, and never keeps a long annotation", () => {
  const same = new SameWishes();
  for (let at = 0; at <= 64; at += 1) same.share(`k${at}`, wishes({}));
  expect(same.elements("k0")).toBeUndefined();
  expect(same.elements("k64")).toBeDefined();
  same.share("x".repeat(5_000), wishes({}));
  expect(same.elements("x".repeat(5_000))).toBeUndefined();
});
