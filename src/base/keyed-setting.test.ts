import { expect, test } from "bun:test";
import { parseKeyedSetting } from "./keyed-setting.ts";

const form = { keys: ["token", "path"], repeated: ["path"] } as const;

test("parseKeyedSetting takes a head alone, and keys with values that have an equals sign themselves", () => {
  expect(parseKeyedSetting("https://a.example/x", form)).toEqual({ head: "https://a.example/x", values: new Map() });
  expect(parseKeyedSetting("a,path=x=y,token=/t,path=z", form)).toEqual({
    head: "a",
    values: new Map([
      ["path", ["x=y", "z"]],
      ["token", ["/t"]],
    ]),
  });
});

for (const [text, problem] of [
  ["a,other=1", '"other" is not one of token=, path='],
  ["a,token", '"token" is not one of token=, path='],
  ["a,pathx", '"pathx" is not one of token=, path='],
  ["a,", '"" is not one of token=, path='],
  ["a,token=/x,token=/y", "token is set twice"],
  ["a,token=", "token= is empty"],
  ["a,a-long-secret-in-the-wrong-place", '"a-long-secret-in" is not one of token=, path='],
] as const) {
  test(`parseKeyedSetting refuses ${text}`, () => expect(parseKeyedSetting(text, form)).toEqual({ problem }));
}
