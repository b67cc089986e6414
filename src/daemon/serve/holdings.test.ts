import { expect, test } from "bun:test";
import { Holdings } from "./holdings.ts";

function holdings(given: string[], names: readonly string[]): Holdings {
  const made = new Holdings();
  for (const name of names) made.use({ [Symbol.dispose]: () => void given.push(name) });
  return made;
}

test("Holdings disposes everything once, last first", () => {
  const given: string[] = [];
  const held = holdings(given, ["a", "b", "c"]);
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  expect(given).toEqual(["c", "b", "a"]);
});

test("Holdings leaves the disposing to the new owner after a move", () => {
  const given: string[] = [];
  const held = holdings(given, ["a", "b"]);
  const moved = held.move();
  held[Symbol.dispose]();
  expect(given).toEqual([]);
  moved[Symbol.dispose]();
  expect(given).toEqual(["b", "a"]);
});
