import { describe, expect, test } from "bun:test";
import { printGoJson, sortedKeys } from "./go-json.ts";

describe("printGoJson", () => {
  test("indents by four and prints empty values short", () => {
    expect(printGoJson({ a: [1, { b: "c" }], d: {}, e: [] })).toBe(
      '{\n    "a": [\n        1,\n        {\n            "b": "c"\n        }\n    ],\n    "d": {},\n    "e": []\n}',
    );
  });

  test("leaves out what is undefined", () => {
    expect(printGoJson({ a: undefined })).toBe("{}");
  });

  test("escapes what Go escapes, in keys as well", () => {
    expect(printGoJson({ "<": "&>\u2028\u2029" })).toBe(String.raw`{
    "\u003c": "\u0026\u003e\u2028\u2029"
}`);
  });
});

describe("sortedKeys", () => {
  test("sorts at every depth and keeps the order of lists", () => {
    expect(Object.keys(sortedKeys({ b: 1, a: 2, B: 3 }) as object)).toEqual(["B", "a", "b"]);
    expect(printGoJson(sortedKeys([{ b: { d: 1, c: 2 } }, 3]))).toBe(printGoJson([{ b: { c: 2, d: 1 } }, 3]));
    expect(sortedKeys(null)).toBeNull();
  });
});
