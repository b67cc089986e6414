import { describe, expect, test } from "bun:test";
import { errorPageProblems, numberPageProblems } from "./docs-in-step.ts";
import { shortly } from "../planted.ts";
import { plantedTree } from "../tree.ts";

const head = "| code | CNI | meaning | what to do |\n| --- | --- | --- | --- |\n";
const catalogue = { "try-later": { cni: 11, meaning: "Not now" }, "internal": { cni: 199, meaning: "A defect" } };

function errorProblems(page: string): readonly string[] {
  return errorPageProblems(plantedTree({ "docs/errors.md": page }), catalogue).map(shortly);
}

describe("errorPageProblems", () => {
  test("accepts a page that agrees with the catalogue", () => {
    expect(
      errorProblems(`${head}| \`try-later\` | 11 | Not now | Wait |\n| \`internal\` | 199 | A defect | Report it |\n`),
    ).toEqual([]);
  });

  test("finds a missing row, a row too many and a row twice", () => {
    const page = `${head}| \`try-later\` | 11 | Not now | Wait |\n| \`try-later\` | 11 | Not now | Wait |\n| \`gone\` | 1 | x | y |\n`;
    expect(errorProblems(page)).toEqual([
      "docs/errors.md:0 the code internal is not on the page",
      "docs/errors.md:5 gone is not in the catalogue",
      "docs/errors.md:4 try-later is there twice",
    ]);
  });

  test("finds another number, another meaning and a missing remedy", () => {
    expect(errorProblems(`${head}| try-later | 12 | Later | |\n| internal | 199 | A defect | Report it |`)).toEqual([
      "docs/errors.md:3 try-later has the CNI number 12, the catalogue 11",
      'docs/errors.md:3 try-later means "Later", in the catalogue "Not now"',
      "docs/errors.md:3 try-later does not say what to do",
    ]);
  });

  test("finds a page without the table", () => {
    expect(errorProblems("# Errors")).toEqual(["docs/errors.md:0 the table of errors is missing"]);
  });
});

const table = { header: ["type", "name"], rustFile: "shim/src/wire/frame.rs", numbers: { CALL: 1, GO: 65 } };
const page = "| type | name | from |\n| --- | --- | --- |\n| 1 | CALL | shim |\n| 65 | GO | daemon |\n";

const shim = "pub const CALL: u8 = 1;\npub const GO: u8 = 65;\n";

function numberProblems(texts: Readonly<Record<string, string>>): readonly string[] {
  return numberPageProblems(plantedTree({ "shim/src/wire/frame.rs": shim, ...texts }), table).map(shortly);
}

describe("numberPageProblems", () => {
  test("accepts page, code and shim that agree", () => {
    expect(numberProblems({ "docs/protocol.md": page })).toEqual([]);
  });

  test("finds a number that differs, and one that is missing on either side", () => {
    expect(numberProblems({ "docs/protocol.md": page.replace("| 65 | GO |", "| 66 | WAIT |") })).toEqual([
      "docs/protocol.md:0 type WAIT is 66 on the page and missing in src/wire",
      "docs/protocol.md:0 type GO is missing on the page and 65 in src/wire",
    ]);
  });

  test("finds a number given twice", () => {
    const twice = `${page}| 65 | GO | daemon |\n`;
    expect(numberProblems({ "docs/protocol.md": twice })).toEqual(["docs/protocol.md:5 the type 65 is there twice"]);
  });

  test("finds a shim that speaks other numbers", () => {
    const other = "\npub const CALL: u8 = 2;\npub const SHOUT: u8 = 9;\n";
    expect(numberProblems({ "docs/protocol.md": page, "shim/src/wire/frame.rs": other })).toEqual([
      "shim/src/wire/frame.rs:2 CALL is 2, in src/wire it is 1",
      "shim/src/wire/frame.rs:3 SHOUT is 9, in src/wire it is unknown",
    ]);
  });

  test("finds a shim without any numbers, so that a moved file is noticed", () => {
    expect(numberProblems({ "docs/protocol.md": page, "shim/src/wire/frame.rs": "" })).toEqual([
      "shim/src/wire/frame.rs:0 no numbers found",
    ]);
  });
});
