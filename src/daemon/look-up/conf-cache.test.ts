import { expect, test } from "bun:test";
import { ConfCache } from "./conf-cache.ts";

const conf = (name: string): string => JSON.stringify({ cniVersion: "1.0.0", name, type: "bridge" });

test("parse gives the same configuration for the same text, and another one when the text changes", () => {
  const cache = new ConfCache();
  const first = cache.parse(conf("a"), { what: "a" });
  expect(cache.parse(conf("a"), { what: "a" })).toBe(first);
  expect(cache.parse(`${conf("a")} `, { what: "a" })).not.toBe(first);
  expect(cache.parse('{"type":"bridge"}', { what: "x", defaultName: "one" }).name).toBe("one");
  expect(cache.parse('{"type":"bridge"}', { what: "x", defaultName: "two" }).name).toBe("two");
});

test("parse keeps a bounded number of entries, and the used ones stay", () => {
  const cache = new ConfCache();
  const used = cache.parse(conf("used"), { what: "used" });
  for (let index = 0; index < 500; index += 1) {
    cache.parse(conf(`n${index}`), { what: "n" });
    expect(cache.parse(conf("used"), { what: "used" })).toBe(used);
  }
  expect(cache.size).toBe(128);
});

test("parse keeps a bounded number of bytes, and the newest whatever its size", () => {
  const cache = new ConfCache();
  const long = (index: number): string =>
    JSON.stringify({ cniVersion: "1.0.0", name: "long", type: "bridge", note: String(index).padStart(200_000, "x") });
  for (let index = 0; index < 100; index += 1) cache.parse(long(index), { what: "long" });
  expect(cache.size).toBe(10);
  const newest = cache.parse(long(99), { what: "long" });
  expect(cache.parse(long(99), { what: "long" })).toBe(newest);
});

test("parse does not keep a broken configuration", () => {
  const cache = new ConfCache();
  expect(() => cache.parse("{", { what: "broken" })).toThrow("broken");
  expect(cache.size).toBe(0);
});
