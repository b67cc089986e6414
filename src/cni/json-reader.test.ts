import { describe, expect, test } from "bun:test";
import { JsonReader } from "./json-reader.ts";

const reader = JsonReader.of(
  {
    s: "x",
    e: "",
    n: 7,
    f: 1.5,
    big: 2 ** 60,
    z: null,
    l: ["a", "b"],
    m: ["a", 1],
    o: { s: "y", d: { n: "no" } },
    os: [{ n: 1 }, { n: "x" }],
    bad: [{}, null],
  },
  "the file",
);

describe("JsonReader", () => {
  test("does not mind the case of keys, and takes the last that is not null, as Go does", () => {
    const odd = JsonReader.of({ IPs: [{ Addreſs: "a" }], ips: null, name: "a", Name: "b", NAMES: "c" }, "the file");
    expect(odd.objects("ips").map((ip) => ip.string("address"))).toEqual(["a"]);
    expect([odd.string("name"), odd.has("NAME"), odd.has("nam")]).toEqual(["b", true, false]);
  });

  test("reads each kind, and null as absent", () => {
    expect([reader.string("s"), reader.integer("n"), reader.strings("l"), reader.object("o")?.string("s")]).toEqual([
      "x",
      7,
      ["a", "b"],
      "y",
    ]);
    expect([
      reader.string("z"),
      reader.integer("z"),
      reader.strings("z"),
      reader.object("z"),
      reader.objects("z"),
    ]).toEqual([undefined, undefined, undefined, undefined, []]);
    expect([reader.has("s"), reader.has("z"), reader.has("absent"), reader.has("toString")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test.each([
    [() => reader.string("n"), "n must be a string: current value is 7"],
    [() => reader.integer("f"), "f must be an integer: current value is 1.5"],
    [() => reader.integer("big"), "big must be an integer: current value is 1152921504606847000"],
    [() => reader.strings("m"), 'm must be an array of strings: current value is ["a",1]'],
    [() => reader.object("l"), 'l must be an object: current value is ["a","b"]'],
    [() => reader.objects("o"), "o must be an array: current value is {"],
    [() => reader.objects("bad"), "bad[1] must be an object: current value is null"],
    [() => reader.object("o")?.object("d")?.integer("n"), 'o.d.n must be an integer: current value is "no"'],
    [() => reader.objects("os")[1]?.integer("n"), 'os[1].n must be an integer: current value is "x"'],
    [() => reader.parsed("s", "a colour", () => undefined), 's must be a colour: current value is "x"'],
    [() => JsonReader.of([], "the file"), "it must be an object: current value is []"],
  ])("names the place and the value: %#", (attempt, message) => {
    expect(attempt).toThrow(`Cannot read the file: ${message}`);
  });

  test("parsed takes an empty text for absent, and missing makes the error", () => {
    expect(reader.parsed("e", "a colour", () => "red")).toBeUndefined();
    expect(reader.parsed("s", "a colour", (text) => text.toUpperCase())).toBe("X");
    expect(reader.missing("absent", "a colour").message).toBe(
      "Cannot read the file: absent must be a colour: current value is missing",
    );
  });

  test("cuts long values", () => {
    const long = JsonReader.of({ a: "x".repeat(5000) }, "the file");
    expect(() => long.integer("a")).toThrow(/…$/);
  });
});
