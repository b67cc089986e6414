import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { parseCniError, printCniError } from "./cni-error.ts";

describe("parseCniError", () => {
  test("reads code, message and details", () => {
    expect(parseCniError('{"cniVersion":"1.0.0","code":11,"msg":"busy","details":"pool a"}\n')).toEqual({
      code: 11,
      msg: "busy",
      details: "pool a",
    });
  });

  test.each([
    ['{"msg":"no code"}', { code: 999, msg: "no code", details: "" }],
    ['{"code":"7","msg":"x"}', { code: 999, msg: "x", details: "" }],
    ['{"code":-1,"msg":"x"}', { code: 999, msg: "x", details: "" }],
    ['{"code":1.5,"msg":"x"}', { code: 999, msg: "x", details: "" }],
    ['{"Code":11,"MSG":"x","Details":"y"}', { code: 11, msg: "x", details: "y" }],
    ['{"code":50}', { code: 50, msg: "", details: "" }],
    ['{"code":7,"msg":null,"details":[1]}', { code: 7, msg: "", details: "" }],
  ])("makes the best of %s", (stdout, error) => {
    expect(parseCniError(stdout)).toEqual(error);
  });

  test.each([
    "",
    "panic: runtime error",
    "{",
    "null",
    "[]",
    '"x"',
    "7",
    "{}",
    '{"cniVersion":"1.0.0","ips":[]}',
    '{"code":0,"msg":""}',
  ])("finds no error in %j", (stdout) => {
    expect(parseCniError(stdout)).toBeUndefined();
  });
});

describe("printCniError", () => {
  test("prints what runtimes read, indented by four", () => {
    const error = new LeveeError("try-later", "Queue <full> & closed", { details: "position 7" });
    expect(printCniError("1.0.0", error)).toBe(`{
    "cniVersion": "1.0.0",
    "code": 11,
    "msg": "Queue \\u003cfull\\u003e \\u0026 closed",
    "details": "position 7"
}`);
  });

  test("leaves out what is empty and keeps a plugin's own number", () => {
    const error = new LeveeError("delegate-failed", "x", { cniCode: 123 });
    expect(JSON.parse(printCniError("", error))).toEqual({ code: 123, msg: "x" });
  });

  test("reads back", () => {
    expect(parseCniError(printCniError("1.1.0", new LeveeError("env-invalid", "m", { details: "d" })))).toEqual({
      code: 4,
      msg: "m",
      details: "d",
    });
  });
});
