import { expect, test } from "bun:test";
import { rustConstants } from "./rust-constants.ts";

test("rustConstants reads byte constants with their lines and nothing else", () => {
  const source =
    "//! const NOT: u8 = 1;\n\npub const CALL: u8 = 1;\npub(crate) const GO: u8 = 65;\nconst LIMIT: usize = 4;\n";
  expect(rustConstants(source)).toEqual([
    { name: "CALL", number: 1, line: 3 },
    { name: "GO", number: 65, line: 4 },
  ]);
});
