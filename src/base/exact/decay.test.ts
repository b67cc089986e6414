import { describe, expect, test } from "bun:test";
import { decay, doublingSteps, powerOfTwoFrom } from "./decay.ts";

/** The 64 bits of a number. */
function bitsOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString("hex");
}

describe("decay", () => {
  test("is e to the power of -x, within two units of the last place", () => {
    for (let x = 0; x < 700; x += 0.037) {
      const exact = Math.exp(-x);
      expect(Math.abs(decay(x) - exact)).toBeLessThanOrEqual(exact * 2 * Number.EPSILON);
    }
  });

  test("is 1 without time, 0 after very much of it, and small before that", () => {
    expect(decay(0)).toBe(1);
    expect(decay(707)).toBeGreaterThan(0);
    expect([decay(708), decay(1e300), decay(Number.POSITIVE_INFINITY)]).toEqual([0, 0, 0]);
  });

  test("has these bits on every machine", () => {
    expect([0.002, 0.1, 1, 10, 300].map((x) => bitsOf(decay(x)))).toEqual([
      "3fefefa1e333cd77",
      "3fecf46d99d52b3a",
      "3fd78b56362cef38",
      "3f07cd79b5647c9a",
      "24e245639c3a49f7",
    ]);
  });
});

describe("powerOfTwoFrom", () => {
  test("is the number itself, or the next one that is large enough", () => {
    expect([1, 2, 3, 4, 5, 2 ** 33, 2 ** 33 + 1].map(powerOfTwoFrom)).toEqual([1, 2, 4, 4, 8, 2 ** 33, 2 ** 34]);
    expect(powerOfTwoFrom(0.3)).toBe(0.5);
    expect([0, Number.POSITIVE_INFINITY].map(powerOfTwoFrom)).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  test("is above a number that is larger by its last bit only, where Math.log2 says otherwise", () => {
    const justAbove = 2 ** 32 * (1 + Number.EPSILON);
    expect(powerOfTwoFrom(justAbove)).toBe(2 ** 33);
  });
});

describe("doublingSteps", () => {
  test("is four steps for each doubling, up to and with the power itself", () => {
    expect([0, 1, 1.1, 1.2, 1.5, 1.7, 2, 2.1, 4, 2 ** 33].map(doublingSteps)).toEqual([0, 0, 1, 2, 3, 4, 4, 5, 8, 132]);
  });

  test("is the next step for a number that is larger by its last bit only, where Math.log2 says otherwise", () => {
    expect(doublingSteps(2 ** 32 * (1 + Number.EPSILON))).toBe(129);
  });

  test("agrees with the logarithm between the steps", () => {
    for (let value = 1.01; value < 2 ** 40; value *= 1.37)
      expect(doublingSteps(value)).toBe(Math.ceil(4 * Math.log2(value)));
  });
});
