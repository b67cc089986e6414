import { describe, expect, test } from "bun:test";
import { problemsIn } from "../planted.ts";
import { rings } from "./rings.ts";

const manifest = JSON.stringify({ dependencies: { yaml: "1.0.0", commander: "1.0.0" } });

describe("rings", () => {
  test("accepts imports downwards and inside a folder", async () => {
    const texts = {
      "src/base/a.ts": `import { readFile } from "node:fs/promises";`,
      "src/cni/b.ts": `import "../base/a.ts";\nimport "./c.ts";`,
      "src/cni/c.ts": "",
      "src/daemon/verbs/d.ts": `import "../../cni/b.ts";`,
    };
    expect(await problemsIn(rings, texts)).toEqual([]);
  });

  test("refuses an import upwards, also of a type and from a test", async () => {
    const texts = {
      "src/base/a.ts": `\nimport type { B } from "../cni/b.ts";`,
      "src/attachment/x.test.ts": `import "../state/y.ts";`,
      "src/cni/b.ts": "",
      "src/state/y.ts": "",
    };
    expect(await problemsIn(rings, texts)).toEqual([
      "src/attachment/x.test.ts:1 src/attachment imports src/state, but may import only base, cni",
      "src/base/a.ts:2 src/base imports src/cni, but may import only nothing",
    ]);
  });

  test("refuses a folder that has no place in the rings", async () => {
    const texts = { "src/extras/a.ts": `import "../base/b.ts";`, "src/base/b.ts": "" };
    expect(await problemsIn(rings, texts)).toEqual(["src/extras/a.ts:1 src/extras has no place in the rings"]);
  });

  test("refuses an import that leads out of src", async () => {
    const texts = { "src/base/a.ts": `import "../../scripts/c.ts";`, "scripts/c.ts": "" };
    expect(await problemsIn(rings, texts)).toEqual(["src/base/a.ts:1 src/ imports scripts/c.ts"]);
  });

  test("finds a cycle that only a late import or a type query closes", async () => {
    const texts = {
      "src/base/a.ts": `import "./b.ts";`,
      "src/base/b.ts": `import "./c.ts";`,
      "src/base/c.ts": `export const late = () => import("./a.ts");`,
      "test/lab/d.ts": `import type { E } from "./e.ts";`,
      "test/lab/e.ts": `\nexport type E = typeof import("./d.ts");`,
      "test/lab/f.ts": `export const late = () => import("./d.ts");`,
    };
    expect(await problemsIn(rings, texts)).toEqual([
      "src/base/c.ts:1 import cycle: src/base/a.ts leads back here",
      "test/lab/e.ts:2 import cycle: test/lab/d.ts leads back here",
    ]);
  });

  test("holds the rooms of a folder apart, but not its tests and the files at its top", async () => {
    const texts = {
      "src/cli/world.ts": `import "./node/ask.ts";`,
      "src/cli/node/ask.ts": `import "../world.ts";\nimport "../terminal/print.ts";\nimport "../storm/plan.ts";`,
      "src/cli/node/ask.test.ts": `import "../storm/plan.ts";`,
      "src/cli/attic/old.ts": `import "../terminal/print.ts";`,
      "src/cli/terminal/print.ts": "",
      "src/cli/storm/plan.ts": "",
    };
    expect(await problemsIn(rings, texts)).toEqual([
      "src/cli/attic/old.ts:1 src/cli/attic has no place among its rooms",
      "src/cli/node/ask.ts:3 src/cli/node imports the room storm, but may import only terminal",
    ]);
  });

  test("refuses packages on the daemon's side", async () => {
    const texts = {
      "package.json": manifest,
      "src/daemon/a.ts": `import "commander";`,
      "src/base/b.ts": `import "bun:ffi";`,
    };
    expect(await problemsIn(rings, texts)).toEqual([
      "src/base/b.ts:1 src/base imports the package bun:ffi",
      "src/daemon/a.ts:1 src/daemon imports the package commander",
    ]);
  });

  test("lets directory load yaml late, and only late", async () => {
    const late = { "package.json": manifest, "src/directory/a.ts": `const { parse } = await import("yaml");` };
    expect(await problemsIn(rings, late)).toEqual([]);
    const early = { "package.json": manifest, "src/directory/a.ts": `import { parse } from "yaml";` };
    expect(await problemsIn(rings, early)).toEqual(["src/directory/a.ts:1 yaml is imported at start-up"]);
  });

  test("lets the outermost ring alone read the version", async () => {
    const texts = {
      "package.json": manifest,
      "src/cli/a.ts": `import manifest from "../../package.json";`,
      "src/base/b.ts": `import manifest from "../../package.json";`,
    };
    expect(await problemsIn(rings, texts)).toEqual(["src/base/b.ts:1 src/ imports package.json"]);
  });
});
