import { expect, test } from "bun:test";
import { parseDaemonConfig } from "./daemon-config.ts";

function choice(value: unknown): unknown {
  return parseDaemonConfig(JSON.stringify({ builtinPlugins: value }), "daemon-config.json").builtinPlugins;
}

test.each([
  [undefined, "auto"],
  [null, "auto"],
  ["", "auto"],
  ["auto", "auto"],
  ["off", "off"],
  [[], []],
  [
    ["bridge", "host-local", "bridge"],
    ["bridge", "host-local"],
  ],
])("builtinPlugins %j is %j", (value, wanted) => {
  expect(choice(value)).toEqual(wanted);
});

test.each([
  ["on", "builtinPlugins"],
  [true, "builtinPlugins"],
  [{ bridge: true }, "builtinPlugins"],
  [["bridge", "brigde"], "builtinPlugins[1]"],
  [["portmap"], "builtinPlugins[0]"],
  [[1], "builtinPlugins[0]"],
])("builtinPlugins %j is refused, and the error names %s and the remedy", (value, key) => {
  expect(() => choice(value)).toThrow(key);
  expect(() => choice(value)).toThrow(/set /u);
});
