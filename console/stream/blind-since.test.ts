import { expect, test } from "bun:test";
import type { ConsoleSource } from "../../src/wire/console-view.ts";
import { blindSince } from "./blind-since.ts";

const source = (state: ConsoleSource["state"], asOfMs: number): ConsoleSource => ({
  name: "x",
  state,
  asOfMs,
  why: "",
});

test("blindSince is the oldest time once half of the sources are stale", () => {
  expect(blindSince([])).toBeUndefined();
  expect(blindSince([source("live", 9), source("live", 9), source("stale", 5)])).toBeUndefined();
  expect(blindSince([source("live", 9), source("stale", 7), source("stale", 5), source("absent", 0)])).toBe(5);
  expect(blindSince([source("stale", 0)])).toBeUndefined();
});
