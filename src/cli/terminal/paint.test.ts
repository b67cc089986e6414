import { describe, expect, test } from "bun:test";
import { FakeScreen } from "../fake-shell.fixture.ts";
import { paintFor } from "./paint.ts";

describe("paintFor", () => {
  test("colours on a terminal", () => {
    expect(paintFor(new FakeScreen(true), {})("red", "x")).toBe("\u001b[31mx\u001b[39m");
  });

  test("does not colour a pipe", () => {
    expect(paintFor(new FakeScreen(false), {})("red", "x")).toBe("x");
  });

  test("respects NO_COLOR when it is not empty, and a dumb terminal", () => {
    expect(paintFor(new FakeScreen(true), { NO_COLOR: "1" })("red", "x")).toBe("x");
    expect(paintFor(new FakeScreen(true), { NO_COLOR: "" })("bold", "x")).toBe("\u001b[1mx\u001b[22m");
    expect(paintFor(new FakeScreen(true), { TERM: "dumb" })("red", "x")).toBe("x");
  });
});
