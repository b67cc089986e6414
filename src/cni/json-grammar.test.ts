import { describe, expect, test } from "bun:test";
import { checkGrammar, JsonGrammarError, jsonDepthMax } from "./json-grammar.ts";

function refusal(text: string): { message: string; offset: number } | undefined {
  try {
    checkGrammar(text);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof JsonGrammarError)) throw thrown;
    return { message: thrown.message, offset: thrown.offset };
  }
}

describe("checkGrammar", () => {
  const good = [
    "{}",
    "[]",
    ' { "a" : [ 1 , -0 , 0.5 , 1e5 , 1E-5, 1.5e+300 ] } ',
    '"\\u00e9\\n\\\\\\/"',
    "true",
    "false",
    "null",
    "0",
    "\t\r\n1500.0\n",
    '"\u007f\u2028"',
    '{"":{"":[[],{}]}}',
  ];
  test.each(good)("accepts %j", (text) => {
    expect(refusal(text)).toBeUndefined();
    expect(() => void JSON.parse(text)).not.toThrow();
  });

  const bad: [string, string, number][] = [
    ["", "unexpected end of JSON input", 0],
    ["  ", "unexpected end of JSON input", 2],
    ["{", "unexpected end of JSON input", 1],
    ['{"a', "unexpected end of JSON input", 3],
    ['{"a"', "unexpected end of JSON input", 4],
    ['{"a":', "unexpected end of JSON input", 5],
    ['{"a":1', "unexpected end of JSON input", 6],
    ["[1,", "unexpected end of JSON input", 3],
    ["[adsf]", "invalid character 'a' looking for beginning of value", 1],
    ["[1 2]", "invalid character '2' after array element", 3],
    ["[1,]", "invalid character ']' looking for beginning of value", 3],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string", 7],
    ["{a:1}", "invalid character 'a' looking for beginning of object key string", 1],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string", 1],
    ['{"a" 1}', "invalid character '1' after object key", 5],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair", 7],
    ["1 1", "invalid character '1' after top-level value", 2],
    ["{}}", "invalid character '}' after top-level value", 2],
    ["01", "invalid character '1' after top-level value", 1],
    ["-", "unexpected end of JSON input", 1],
    ["-x", "invalid character 'x' in numeric literal", 1],
    ["+1", "invalid character '+' looking for beginning of value", 0],
    [".5", "invalid character '.' looking for beginning of value", 0],
    ["1.", "unexpected end of JSON input", 2],
    ["1.x", "invalid character 'x' after decimal point in numeric literal", 2],
    ["1.5.2", "invalid character '.' after top-level value", 3],
    ["[1e]", "invalid character ']' in exponent of numeric literal", 3],
    ["[1E+]", "invalid character ']' in exponent of numeric literal", 4],
    ["1e5e5", "invalid character 'e' after top-level value", 3],
    ["1e5.5", "invalid character '.' after top-level value", 3],
    ["tru", "unexpected end of JSON input", 3],
    ["trux", "invalid character 'x' in literal true (expecting 'e')", 3],
    ["nulL", "invalid character 'L' in literal null (expecting 'l')", 3],
    ["NaN", "invalid character 'N' looking for beginning of value", 0],
    ['"a\nb"', "invalid character '\\n' in string literal", 2],
    ['"a\u0001"', "invalid character '\\x01' in string literal", 2],
    ["\u007f", "invalid character '\\x7f' looking for beginning of value", 0],
    ['"\\x"', "invalid character 'x' in string escape code", 2],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape", 5],
    ['"\\', "unexpected end of JSON input", 2],
    ["\ufeff{}", "invalid character '\ufeff' looking for beginning of value", 0],
    ["\u00a01", "invalid character '\u00a0' looking for beginning of value", 0],
  ];
  test.each(bad)("refuses %j", (text, message, offset) => {
    expect(refusal(text)).toEqual({ message, offset });
    expect(() => void JSON.parse(text)).toThrow();
  });

  test("accepts the deepest allowed document and refuses one level more", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(refusal(nested(jsonDepthMax))).toBeUndefined();
    expect(refusal(nested(jsonDepthMax + 1))?.message).toBe("more than 64 levels deep");
    expect(refusal('{"a":'.repeat(100_000))?.message).toBe("more than 64 levels deep");
  });
});
