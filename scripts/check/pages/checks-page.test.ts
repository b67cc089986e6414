import { expect, test } from "bun:test";
import { checksPageProblems } from "./checks-page.ts";
import { plantedTree } from "../tree.ts";

const codes = { LVE0101: { title: "it answers", means: "It is there.", todo: "Start it." } };
const good = "# Checks\n\n## LVE0101\n\nit answers. It is there.\n\nStart it.\n";

function messages(page: string): readonly string[] {
  const all = [{ file: "docs/checks.md", command: "levee check", codes }];
  return checksPageProblems(plantedTree({ "docs/checks.md": page }), all).map(({ message }) => message);
}

test("checksPageProblems finds a code without its part, a part without its code, and other words", () => {
  expect(messages(good)).toEqual([]);
  expect(messages("# Checks\n")).toEqual(["LVE0101 has no part"]);
  expect(messages(good.replace("Start it.", "Stop it."))).toEqual(["the part of LVE0101 does not say: Start it."]);
  expect(messages(`${good}\n## LVE9999\n`)).toEqual(["LVE9999 is no code of levee check"]);
});
