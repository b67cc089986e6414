import { describe, expect, test } from "bun:test";
import { stolenSince, stolenTicks } from "./machine-facts.ts";

describe("stolenTicks", () => {
  test("reads the host's share of all time, and counts guests once", () => {
    expect(stolenTicks("cpu  10 1 5 70 2 0 2 10 9 9\ncpu0 1 1\n")).toEqual({ all: 100, stolen: 10 });
  });
});

describe("stolenSince", () => {
  test("is a share of the time between", () => {
    expect(stolenSince({ all: 100, stolen: 10 }, { all: 300, stolen: 30 })).toBe("10.0 % of the processors' time");
    expect(stolenSince({ all: 100, stolen: 10 }, { all: 100, stolen: 10 })).toBe("0.0 % of the processors' time");
  });
});
