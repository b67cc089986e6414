import { expect, test } from "bun:test";
import { Looks } from "./looks.ts";

test("ageMs counts from the first of the uninterrupted looks", () => {
  const looks = new Looks();
  looks.note(["a", "b"], 1_000);
  looks.note(["a"], 31_000);
  expect([looks.ageMs("a", 31_000), looks.ageMs("b", 31_000)]).toEqual([30_000, undefined]);
  looks.note(["a", "b"], 61_000);
  expect([looks.ageMs("a", 61_000), looks.ageMs("b", 61_000)]).toEqual([60_000, 0]);
});
