import { describe, expect, test } from "bun:test";
import { breakingPoint, smallestLimit, triedOf } from "./breaking-point.ts";

/** A node that holds so many pods. */
function nodeOf(most: number) {
  const tried: number[] = [];
  return {
    tried,
    attempt: (pods: number) => {
      tried.push(pods);
      return Promise.resolve({ holds: pods <= most, why: pods <= most ? "" : `${pods} are too many` });
    },
  };
}

describe("breakingPoint", () => {
  test.each([
    [37, 16],
    [640, 100],
    [1, 300],
    [299, 300],
  ])("finds %d from %d on, as close as a model is", async (most, from) => {
    const { attempt, tried } = nodeOf(most);
    const { holds, breaks = 0, why } = await breakingPoint({ from, max: 1_000 }, attempt);
    expect(holds).toBeWithin(Math.floor(most * 0.96), most + 1);
    expect(breaks).toBeWithin(most + 1, Math.ceil(most * 1.04) + 2);
    expect(why).toBe(`${breaks} are too many`);
    expect(tried.length).toBeLessThan(14);
  });

  test("says that a node does not break up to the largest that was tried, and that one holds nothing", async () => {
    expect(await breakingPoint({ from: 100, max: 1_000 }, nodeOf(5_000).attempt)).toEqual({
      holds: 1_000,
      breaks: undefined,
      why: "",
    });
    expect(await breakingPoint({ from: 100, max: 1_000 }, nodeOf(0).attempt)).toMatchObject({ holds: 0, breaks: 1 });
  });
});

test("smallestLimit finds the first one that is enough, and none when none is", async () => {
  const least = (mib: number) => smallestLimit([16, 32, 50, 96, 256], (limit) => Promise.resolve(limit >= mib));
  expect([await least(96), await least(17), await least(1), await least(999)]).toEqual([96, 32, 16, undefined]);
});

test("triedOf names a kill before what follows from it", () => {
  const broken = ["3 of 9 pods were not attached within 3m", "the kernel killed the daemon of node for memory, once"];
  expect(triedOf({ broken })).toEqual({ holds: false, why: broken[1] ?? "" });
  expect(triedOf({ broken: [] })).toEqual({ holds: true, why: "" });
});
