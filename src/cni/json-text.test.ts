import { describe, expect, test } from "bun:test";
import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import {
  appendElements,
  arrayElements,
  asJsonText,
  exactMember,
  jsonBytesMax,
  jsonKind,
  jsonObject,
  jsonString,
  jsonValue,
  memberText,
  removeMember,
  scanObject,
  setMember,
} from "./json-text.ts";

function json(text: string): JsonText {
  return asJsonText(text, "a test");
}

/** A document with everything that parsing and printing would change. */
const special = json(
  '{ "type": "x" ,\n\t"big":9007199254740993, "mtu":1500.0, "dup":1, "e":1E2,\r\n "na\\u006de":"n", "dup" : 2, "t":"\\u00e9\\/" }',
);

describe("asJsonText", () => {
  test("keeps the text as it is", () => {
    const text = '  {"a" : 1500.0, "a":9007199254740993}\n';
    expect(String(asJsonText(text, "x"))).toBe(text);
    expect(String(asJsonText(Buffer.from(text), "x"))).toBe(text);
  });

  test.each([
    ["{", "Cannot read the conf as JSON: unexpected end of JSON input, at offset 1"],
    ['{"a":tru}', "Cannot read the conf as JSON: invalid character '}' in literal true (expecting 'e'), at offset 8"],
    ["{} x", "Cannot read the conf as JSON: invalid character 'x' after top-level value, at offset 3"],
    ["\ud800", "Cannot read the conf as JSON: it has half a surrogate pair"],
  ])("refuses %j with the thing and the place", (text, message) => {
    expect(() => asJsonText(text, "the conf")).toThrow(new LeveeError("decode-failed", message));
  });

  test("refuses bytes that are not UTF-8", () => {
    const bytes = Uint8Array.of(0x22, 0xff, 0x22);
    expect(() => asJsonText(bytes, "the conf")).toThrow("Cannot read the conf as JSON: it is not UTF-8");
  });

  test("refuses a byte order mark, as Go does", () => {
    expect(() => asJsonText(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), "the conf")).toThrow(
      "looking for beginning of value, at offset 0",
    );
  });

  test("counts bytes, not characters, against its limit", () => {
    const atLimit = `"${"é".repeat((jsonBytesMax - 2) / 2)}"`;
    expect(asJsonText(atLimit, "x").length).toBe(jsonBytesMax / 2 + 1);
    expect(() => asJsonText(`${atLimit} `, "the conf")).toThrow("it may have 262144 bytes and has 262145");
    expect(() => asJsonText(Buffer.from(`${atLimit} `), "the conf")).toThrow("has 262145");
  });
});

describe("scanObject", () => {
  test("keeps order and duplicates and decodes keys", () => {
    expect(scanObject(special).map((member) => member.key)).toEqual([
      "type",
      "big",
      "mtu",
      "dup",
      "e",
      "name",
      "dup",
      "t",
    ]);
  });

  test("gives offsets of key and value", () => {
    const text = json(' {"a" : [1] }');
    expect(scanObject(text)).toEqual([{ key: "a", keyStart: 2, keyEnd: 5, valueStart: 8, valueEnd: 11 }]);
  });

  test("refuses what is not an object", () => {
    expect(() => scanObject(json(" [1]"))).toThrow("Cannot use JSON as an object: current value is [1]");
    expect(() => scanObject(json(`"${"x".repeat(99)}"`))).toThrow("…");
  });
});

describe("memberText", () => {
  test("takes the last of several", () => {
    expect(memberText(special, "dup")).toBe(json("2"));
  });

  test("returns values as they are written", () => {
    expect(memberText(special, "big")).toBe(json("9007199254740993"));
    expect(memberText(special, "mtu")).toBe(json("1500.0"));
    expect(memberText(special, "name")).toBe(json('"n"'));
    expect(memberText(special, "absent")).toBeUndefined();
    expect(memberText(json("{}"), "toString")).toBeUndefined();
  });

  // Each answer is that of Go's encoding/json for a struct with the field `type`.
  test.each([
    ['{"Type":"b"}', '"b"'],
    ['{"type":"a","Type":"b"}', '"b"'],
    ['{"Type":"b","type":"a"}', '"a"'],
    ['{"type":"a","Type":null}', '"a"'],
    ['{"type":"a","type":null}', '"a"'],
    ['{"TYPE":"b","type":"","tYpe":"c"}', '"c"'],
    ['{"t\\u0059pe":"b"}', '"b"'],
    ['{"inner":{"Type":"b"},"typ":1,"types":2}', undefined],
  ])("of %s is %p", (text, value) => {
    expect(memberText(json(text), "type") as string | undefined).toBe(value);
  });
});

describe("exactMember", () => {
  test("takes the key as it is, and the last of several", () => {
    expect(exactMember(json('{"name":1,"Name":2}'), "name")).toBe(json("1"));
    expect(exactMember(json('{"Name":2}'), "name")).toBeUndefined();
    expect(exactMember(special, "dup")).toBe(json("2"));
  });
});

describe("setMember", () => {
  test("replaces a value and nothing else", () => {
    expect(setMember(special, "mtu", json("9000"))).toBe(json(special.replace("1500.0", "9000")));
  });

  test("keeps an escaped key as it is written", () => {
    expect(setMember(json('{"na\\u006de":1}'), "name", json("2"))).toBe(json('{"na\\u006de":2}'));
  });

  test("appends after the last member, before the white space that ends the object", () => {
    expect(setMember(json('{"a":1\n}'), "b", json("2"))).toBe(json('{"a":1,"b":2\n}'));
    expect(setMember(json(" { } "), "b", json("2"))).toBe(json(' {"b":2 } '));
  });

  test("leaves one copy of a key that stood several times", () => {
    expect(setMember(json('{"a":1, "b":2, "a":3, "c":4,"a":5 }'), "a", json("9"))).toBe(json('{"b":2, "c":4,"a":9 }'));
  });

  test("goes to the end when a later key differs in case only, so that Go reads ours", () => {
    expect(setMember(json('{"name":1,"b":2,"Name":3}'), "name", json("9"))).toBe(json('{"b":2,"Name":3,"name":9}'));
    expect(setMember(json('{"Name":3,"name":1}'), "name", json("9"))).toBe(json('{"Name":3,"name":9}'));
    expect(setMember(json('{"Name":3}'), "name", json("9"))).toBe(json('{"Name":3,"name":9}'));
  });

  test("quotes a key that needs it", () => {
    expect(setMember(json("{}"), 'a"b', json("1"))).toBe(json('{"a\\"b":1}'));
  });

  test("handles tens of thousands of duplicates in one pass", () => {
    const text = json(`{${'"a":1,'.repeat(40_000)}"b":2}`);
    const before = performance.now();
    expect(setMember(text, "a", json("3"))).toBe(json('{"a":3,"b":2}'));
    expect(removeMember(text, "a")).toBe(json('{"b":2}'));
    expect(performance.now() - before).toBeLessThan(2000);
  });

  test("refuses what is not an object", () => {
    expect(() => setMember(json("[]"), "a", json("1"))).toThrow("Cannot use JSON as an object");
  });
});

describe("removeMember", () => {
  test.each([
    ['{"a":1}', "{}"],
    ['{ "a":1 }', "{  }"],
    ['{"a":1, "b":2}', '{"b":2}'],
    ['{"b":2, "a":1 }', '{"b":2 }'],
    ['{"b":2 , "a":1, "c":3}', '{"b":2 , "c":3}'],
    ['{"a":1,"a":2,"a":3}', "{}"],
    ['{"x":1,"a":2,"a":3}', '{"x":1}'],
    ['{"x":{"a":1}}', '{"x":{"a":1}}'],
    ['{"A":1,"b":2, "a":3}', '{"b":2}'],
  ])("turns %s into %s", (before, after) => {
    expect(removeMember(json(before), "a")).toBe(json(after));
  });
});

describe("arrays", () => {
  test("arrayElements returns each element's own text", () => {
    expect(arrayElements(json(' [ 1500.0 ,{"a" : 1},[ ] , "x,]" ] ')).map(String)).toEqual([
      "1500.0",
      '{"a" : 1}',
      "[ ]",
      '"x,]"',
    ]);
    expect(arrayElements(json("[ ]"))).toEqual([]);
    expect(() => arrayElements(json("{}"))).toThrow("Cannot use JSON as an array");
  });

  test("appendElements adds after the last element", () => {
    expect(appendElements(json("[ 1.0 \n]"), [json("2"), json("{}")])).toBe(json("[ 1.0,2,{} \n]"));
    expect(appendElements(json(" [ ]"), [json("2")])).toBe(json(" [2 ]"));
    expect(appendElements(json("[1]"), [])).toBe(json("[1]"));
    expect(() => appendElements(json("{}"), [json("1")])).toThrow("Cannot use JSON as an array");
  });
});

describe("our own values", () => {
  test("jsonString and jsonValue print JSON", () => {
    expect(String(jsonString('a"\n'))).toBe('"a\\"\\n"');
    expect(String(jsonValue({ a: [1, null] }))).toBe('{"a":[1,null]}');
    expect(() => jsonValue(undefined)).toThrow("Cannot print a undefined as JSON");
  });

  test("jsonObject keeps the text of its values", () => {
    expect(
      String(
        jsonObject([
          ["a", json("1500.0")],
          ["b c", json("[ ]")],
        ]),
      ),
    ).toBe('{"a":1500.0,"b c":[ ]}');
  });

  test("jsonKind names the kind", () => {
    const kinds = ["{}", "[]", '""', "-1", "0", "true", "false", "null"].map((text) => jsonKind(json(` ${text}`)));
    expect(kinds).toEqual(["object", "array", "string", "number", "number", "bool", "bool", "null"]);
  });
});
