import { describe, expect, test } from "bun:test";
import { asJsonText } from "../cni/json-text.ts";
import { SettingsReader } from "./settings-reader.ts";

function reader(text: string): SettingsReader {
  return new SettingsReader(asJsonText(text, "a test"));
}

describe("SettingsReader matches keys as Go does", () => {
  test("without regard to case", () => {
    expect(reader('{"BINDIR":"/a"}').string("binDir")).toBe("/a");
    expect(reader('{"binDir":"/a"}').string("BinDir")).toBe("/a");
  });

  test("taking the last of several, whatever their case", () => {
    const from = reader('{"a":"1","b":"x","A":"2"}');
    expect(from.string("a")).toBe("2");
    expect(from.settings.map(({ key }) => key)).toEqual(["b", "A"]);
  });

  test("treating null as absent, even after a value", () => {
    const from = reader('{"a":"1","a":null}');
    expect(from.has("a")).toBe(false);
    expect(from.string("a")).toBeUndefined();
    expect(from.problems).toEqual([]);
  });

  test("with escapes in keys decoded", () => {
    expect(reader(String.raw`{"bin\u0044ir":"/a"}`).string("binDir")).toBe("/a");
  });

  test("with __proto__ as a key like any other", () => {
    const from = reader('{"__proto__":{"polluted":"yes"},"flags":{"__proto__":true}}');
    expect(from.string("polluted")).toBeUndefined();
    expect(Object.entries(from.flags("flags") ?? {})).toEqual([["__proto__", true]]);
  });
});

describe("SettingsReader reads", () => {
  const from = reader(
    '{"s":"x","e":"","t":true,"f":false,"n":42,"o":{"id":9007199254740993},"l":[1,"a"],"ls":["a","b"],"lo":[{"a":1.0},{}],"fl":{"x":true,"y":false},"p":"/a//b/../c/"}',
  );

  test("each type", () => {
    expect(from.string("s")).toBe("x");
    expect(from.flag("t")).toBe(true);
    expect(from.flag("f")).toBe(false);
    expect(from.integer("n", 0, 100)).toBe(42);
    expect(from.strings("ls")).toEqual(["a", "b"]);
    expect(from.flags("fl")).toEqual({ x: true, y: false });
    expect(from.path("p")).toBe("/a/c");
  });

  test("objects and lists as the text they have", () => {
    expect(String(from.object("o"))).toBe('{"id":9007199254740993}');
    expect(from.list("l")?.map(String)).toEqual(["1", '"a"']);
    expect(from.objects("lo")?.map(String)).toEqual(['{"a":1.0}', "{}"]);
  });

  test("absent ones as undefined, without a problem", () => {
    const empty = reader("{}");
    expect([empty.string("a"), empty.flag("a"), empty.integer("a", 0, 1), empty.object("a"), empty.list("a")]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect([
      empty.strings("a"),
      empty.objects("a"),
      empty.flags("a"),
      empty.path("a"),
      empty.word("a", () => false, ""),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(empty.problems).toEqual([]);
  });

  test("an empty word or path as absent", () => {
    expect(from.word("e", () => false, "never")).toBeUndefined();
    expect(from.path("e")).toBeUndefined();
  });

  test("all of the above without a problem", () => {
    expect(from.problems).toEqual([]);
  });
});

describe("SettingsReader finds a problem in", () => {
  test.each<[string, (from: SettingsReader) => unknown]>([
    ["1", (from) => from.string("K")],
    ["true", (from) => from.string("k")],
    ['"true"', (from) => from.flag("k")],
    ["0", (from) => from.flag("k")],
    ['"5"', (from) => from.integer("k", 0, 10)],
    ["5.5", (from) => from.integer("k", 0, 10)],
    ["11", (from) => from.integer("k", 0, 10)],
    ["-1", (from) => from.integer("k", 0, 10)],
    ["1e999", (from) => from.integer("k", 0, 10)],
    ["[]", (from) => from.object("k")],
    ["{}", (from) => from.list("k")],
    ['"a"', (from) => from.strings("k")],
    ['{"x":1}', (from) => from.flags("k")],
    ['"relative/path"', (from) => from.path("k")],
    ['"/"', (from) => from.path("k")],
    ['"/a/.."', (from) => from.path("k")],
    ['"/toolong"', (from) => from.path("k", 4)],
    [String.raw`"/a\u0000b"`, (from) => from.path("k")],
    ['"x"', (from) => from.word("k", () => false, "do better")],
  ])("%s", (value, read) => {
    const from = reader(`{"k":${value}}`);
    expect(read(from)).toBeUndefined();
    expect(from.problems).toEqual([{ key: "k", seen: value, remedy: expect.any(String) }]);
  });

  test("one element of a list, naming its place", () => {
    const from = reader('{"k":["a",5],"o":[{},[]]}');
    expect(from.strings("k")).toBeUndefined();
    expect(from.objects("o")).toBeUndefined();
    expect(from.problems.map(({ key, seen }) => [key, seen])).toEqual([
      ["k[1]", "5"],
      ["o[1]", "[]"],
    ]);
  });

  test("a long value, of which it shows the beginning", () => {
    const from = reader(`{"k":["${"x".repeat(500)}"]}`);
    from.string("k");
    expect(from.problems[0]?.seen).toHaveLength(61);
  });

  test("several values in one pass", () => {
    const from = reader('{"a":1,"b":"x","c":{}}');
    from.string("a");
    from.flag("b");
    from.list("c");
    expect(from.problems.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });
});
