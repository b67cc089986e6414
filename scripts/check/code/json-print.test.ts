import { describe, expect, test } from "bun:test";
import { jsonPrint } from "./json-print.ts";
import { problemsIn } from "../planted.ts";

describe("json-print", () => {
  test.each(["src/attachment/a.ts", "src/cni/a.ts", "src/hands/a.ts"])("refuses to print JSON in %s", async (path) => {
    expect(
      await problemsIn(jsonPrint, { [path]: "const conf = parse(text);\nexport const text = JSON.stringify(conf);" }),
    ).toEqual([`${path}:2 JSON.stringify where delegates' configurations are handled`]);
  });

  test("lets an error message quote the value seen", async () => {
    const source = 'throw new LeveeError("env-invalid", `Cannot use it: current value is ${JSON.stringify(value)}`);';
    expect(await problemsIn(jsonPrint, { "src/cni/a.ts": source })).toEqual([]);
  });

  test("refuses printing what was just parsed anywhere in src", async () => {
    const source = "JSON.stringify(JSON.parse(text)); JSON.stringify(own);";
    expect(await problemsIn(jsonPrint, { "src/daemon/a.ts": source })).toHaveLength(1);
  });

  test("leaves tests alone", async () => {
    expect(await problemsIn(jsonPrint, { "src/cni/a.test.ts": "JSON.stringify(x);" })).toEqual([]);
  });
});
