import { expect, test } from "bun:test";
import { sameJson } from "./same-json.ts";

const values = [
  "null",
  "false",
  "0",
  '"0"',
  "[]",
  "{}",
  "[1]",
  "[1,2]",
  "[2,1]",
  '{"0":1}',
  '{"a":null}',
  '{"a":{"b":[1]}}',
  '{"a":{"b":[2]}}',
  '{"__proto__":1}',
  '{"toString":1}',
];

test("sameJson tells any two different values apart, and none from its copy", () => {
  for (const left of values)
    for (const right of values)
      expect([left, right, sameJson(JSON.parse(left), JSON.parse(right))]).toEqual([left, right, left === right]);
});

test("sameJson does not look at the order of members", () => {
  expect(sameJson(JSON.parse('{"a":1,"b":[{"c":2,"d":3}]}'), JSON.parse('{"b":[{"d":3,"c":2}],"a":1}'))).toBe(true);
});
