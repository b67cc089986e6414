import { describe, expect, test } from "bun:test";
import { plantedTree } from "../tree.ts";
import { filesOfWalk, isOfWalk, walk } from "./walk.ts";

function pageWith(counted: string, ...files: readonly string[]): string {
  const named = files.map((file) => `\`${file}\``).join(", ");
  return `<!-- walk -->\n${counted}. ${named}\nA failure after is \`src/daemon/undo/undo.ts\`.\n<!-- /walk -->\n`;
}

async function problems(texts: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return (await walk.run(plantedTree(texts))).problems.map(({ message }) => message);
}

describe("walk", () => {
  const add = "src/daemon/attach/add.ts";

  test("accepts a page with the right numbers", async () => {
    expect(await problems({ "ARCHITECTURE.md": pageWith("1 files and 2 lines", add), [add]: "a\nb\n" })).toEqual([]);
  });

  test("finds other numbers, a file that is gone, and a walk that is too long", async () => {
    expect(await problems({ "ARCHITECTURE.md": pageWith("1 files and 3 lines", add), [add]: "a\nb\n" })).toEqual([
      "the walk says another number than 1 files and 2 lines",
    ]);
    expect(await problems({ "ARCHITECTURE.md": pageWith("1 files and 0 lines", add) })).toEqual([
      `there is no file ${add}`,
    ]);
    const long = "x\n".repeat(3_501);
    expect(await problems({ "ARCHITECTURE.md": pageWith("1 files and 3,501 lines", add), [add]: long })).toEqual([
      "the walk of one ADD is 1 files and 3,501 lines, and may be 35 files and 3,500 lines",
    ]);
  });

  test("filesOfWalk names each file once, and none of the undo", () => {
    expect(filesOfWalk(pageWith("", add, add, "src/base/clock.ts", "src/hands/run-chain.ts"))).toEqual([
      add,
      "src/hands/run-chain.ts",
    ]);
  });
});

test("isOfWalk takes files that the walk's rooms import, and no object that is passed in", () => {
  const [add, plan, journal] = ["src/daemon/attach/add.ts", "src/attachment/plan.ts", "src/state/journal/journal.ts"];
  const text = `import { plan } from "../../attachment/plan.ts";\nimport type { Journal } from "../../state/journal/journal.ts";\n`;
  const ran = [add, plan, journal, "src/base/clock.ts"];
  expect(ran.filter((file) => isOfWalk(file, ran, () => text))).toEqual([add, plan]);
});
