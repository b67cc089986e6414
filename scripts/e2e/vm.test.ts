import { expect, test } from "bun:test";
import { readArguments } from "./vm.ts";

test("readArguments takes scenarios, the smoke test, and a version of Debian", () => {
  expect(readArguments(["--vm"])).toEqual({ isSmoke: false, debian: "12", names: [] });
  expect(readArguments(["--vm", "reboot", "--debian", "13", "basic"])).toEqual({
    isSmoke: false,
    debian: "13",
    names: ["reboot", "basic"],
  });
  expect(readArguments(["--vm", "builtin-links"])).toMatchObject({ isSmoke: false, names: ["builtin-links"] });
  expect(readArguments(["--vm-smoke", "--debian=13"])).toEqual({ isSmoke: true, debian: "13", names: [] });
});

test("readArguments names what it does not know", () => {
  expect(readArguments(["--vm", "basic", "nothing"])).toBe("There is no scenario nothing for a virtual machine");
  expect(readArguments(["--vm-smoke", "basic"])).toBe("There is no scenario basic for a virtual machine");
  expect(readArguments(["--vm", "--debian", "11"])).toBe("--debian must be 12 or 13: current value is 11");
  expect(readArguments(["--vm", "--full"])).toContain("--full");
});
