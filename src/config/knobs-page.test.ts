import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { knobRows, knobsPageProblems, multusRows } from "./knobs-page.ts";

const page = readFileSync(`${import.meta.dir}/../../docs/knobs.md`, "utf8");

describe("knobsPageProblems", () => {
  test("finds none in docs/knobs.md", () => {
    expect(knobsPageProblems(page)).toEqual([]);
  });

  test("finds each row that is missing", () => {
    for (const row of [...knobRows(), ...multusRows()]) {
      expect(knobsPageProblems(page.replace(`${row}\n`, ""))).toEqual([`docs/knobs.md lacks the row ${row}`]);
    }
  });

  test("finds a row that no table has", () => {
    const stray = "| `maxRetries` | count | 3 | 1 to 9 | Not ours. |";
    expect(knobsPageProblems(`${page}${stray}\n`)).toEqual([
      `docs/knobs.md has a row that no table in src/config has: ${stray}`,
    ]);
  });

  test("finds another default, as a row too many and a row too few", () => {
    const problems = knobsPageProblems(page.replace("| ms | 110,000 |", "| ms | 100,000 |"));
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain("110,000");
    expect(problems[1]).toContain("100,000");
  });

  test("finds a row that stands there twice", () => {
    expect(knobsPageProblems(`${page}${knobRows()[0]}\n`)).toEqual([`docs/knobs.md has a row twice: ${knobRows()[0]}`]);
  });

  test("wants every row of an empty page", () => {
    expect(knobsPageProblems("")).toHaveLength(knobRows().length + multusRows().length);
  });
});

describe("knobRows", () => {
  test("show unit, default and bounds", () => {
    expect(knobRows().find((row) => row.startsWith("| `delAttemptsMax`"))).toStartWith(
      "| `delAttemptsMax` | count | 3 | 1 to 100 | How many failed DELs",
    );
    expect(knobRows().find((row) => row.startsWith("| `directory`"))).toStartWith(
      "| `directory` | path | – | absolute, ≤ 1,024 bytes | Folder",
    );
  });
});

describe("multusRows", () => {
  test("say why a key does nothing, as a sentence", () => {
    expect(multusRows()).toContain(
      "| `chrootDir` | string | ignored | The shim runs the plugins, and it is on the host already. |",
    );
  });
});
