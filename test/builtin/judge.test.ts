import { expect, test } from "bun:test";
import { judge } from "./judge.ts";

const batch = { served: 8, good: 2, left: 7, faults: [] };

test.if(process.env["LEVEE_TURNS"] !== "1")(
  "judge wants no fault, more served than left, and a quarter of those to go well",
  () => {
    expect(() => judge(batch)).not.toThrow();
    for (const worse of [{ good: 1 }, { left: 8 }, { faults: ["a difference"] }])
      expect(() => judge({ ...batch, ...worse })).toThrow();
    expect(() => judge({ ...batch, good: 0 }, false)).not.toThrow();
  },
);
