import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { shortly } from "../planted.ts";
import type { Rule } from "../rule.ts";
import { toolRule, toolRules } from "./tools.ts";
import { plantedTree } from "../tree.ts";

const repository = resolve(import.meta.dirname, "../../..");
let root = "";

// A small separate project with our configuration, so that each tool really finds a planted error.
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "levee-tools-"));
  for (const file of ["tsconfig.json", ".oxlintrc.json", ".oxfmtrc.json"])
    cpSync(join(repository, file), join(root, file));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const folders = ["src", "test", "bench", "scripts"];

/** The problems that a tool finds in these files only. */
async function messagesIn(name: string, texts: Texts): Promise<readonly string[]> {
  for (const folder of folders) rmSync(join(root, folder), { recursive: true, force: true });
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { problems } = await ruleNamed(name).run(plantedTree({}, root));
  return problems.map(shortly).toSorted();
}

type Texts = Readonly<Record<string, string>>;

function inEach(texts: (folder: string) => Texts): Texts {
  return Object.assign({}, ...folders.map(texts)) as Texts;
}

async function messages(name: string, source: string): Promise<string> {
  return (await messagesIn(name, { "src/planted.ts": source })).join("\n");
}

function ruleNamed(name: string): Rule {
  const rule = toolRules.find((candidate) => candidate.name === name);
  if (rule === undefined) throw new Error(`no rule named ${name}`);
  return rule;
}

describe("toolRules", () => {
  test("types finds a wrong type with its place", async () => {
    const found = await messages("types", `export const ok = 1;\nexport const wrong: number = "text";\n`);
    expect(found).toStartWith("src/planted.ts:2 TS2322");
  });

  test.each([
    ["no-floating-promises", "async function work(): Promise<void> {}\nexport function f(): void {\n  work();\n}\n"],
    [
      "no-misused-promises",
      "export function f(xs: number[]): void {\n  xs.forEach(async (x) => {\n    await Promise.resolve(x);\n  });\n}\n",
    ],
    [
      "no-unsafe-assignment",
      "export function f(text: string): unknown {\n  const value = JSON.parse(text);\n  return [value];\n}\n",
    ],
    ["no-explicit-any", "export function f(value: any): void {\n  void value;\n}\n"],
    [
      "switch-exhaustiveness-check",
      'export function f(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n      return;\n  }\n}\n',
    ],
    ["no-empty", "export function f(g: () => void): void {\n  try {\n    g();\n  } catch {}\n}\n"],
    ["no-console", 'export function f(): void {\n  console.log("x");\n}\n'],
    ["eqeqeq", "export const f = (a: number): boolean => a == 1;\n"],
    [
      "max-params",
      "export function f(a: number, b: number, c: number, d: number, e: number): number {\n  return a + b + c + d + e;\n}\n",
    ],
    [
      "complexity",
      `export function f(n: number): number {\n${Array.from({ length: 10 }, (_unused, i) => `  if (n === ${i}) return ${i};`).join("\n")}\n  return n;\n}\n`,
    ],
    [
      "max-depth",
      `export function f(n: number): number {\n  if (n > 1) { if (n > 2) { if (n > 3) { if (n > 4) { return 1; } } } }\n  return 0;\n}\n`,
    ],
    [
      "max-lines-per-function",
      `export function f(): number {\n  let n = 0;\n${"  n += 1;\n".repeat(70)}  return n;\n}\n`,
    ],
    ["max-lines", "export {};\n".repeat(251)],
  ])("lint has %s as an error", async (rule, source) => {
    expect(await messages("lint", source)).toContain(`(${rule})]`);
  });

  test.each([
    ["values", `import { b } from "./b.ts";\nexport const a = b;`, `import { a } from "./a.ts";\nexport const b = a;`],
    [
      "types",
      `import type { B } from "./b.ts";\nexport type A = B;`,
      `import { type A } from "./a.ts";\nexport type B = A;`,
    ],
    [
      "re-exports",
      `export type { B } from "./b.ts";\nexport type A = 1;`,
      `import type { A } from "./a.ts";\nexport type B = A;`,
    ],
  ])("lint finds a cycle of %s in every folder", async (_of, a, b) => {
    const texts = inEach((folder) => ({ [`${folder}/x/a.ts`]: a, [`${folder}/x/b.ts`]: b }));
    const found = (await messagesIn("lint", texts)).filter((line) => line.includes("no-cycle"));
    expect(found.map((line) => line.slice(0, line.indexOf(":")))).toEqual(Object.keys(texts).toSorted());
  });

  test("lint wants the extension of a file, types want the file", async () => {
    const texts = {
      "src/a.ts": `import "./b";\nimport type { C } from "./b";\nimport "./gone.ts";\nexport type D = C;\n`,
    };
    const withB = { ...texts, "src/b.ts": "export type C = 1;\n" };
    expect((await messagesIn("lint", withB)).filter((line) => line.includes("extensions"))).toHaveLength(2);
    expect((await messagesIn("types", withB)).join()).toMatch(/^src\/a.ts:3 TS2882/);
  });

  test("format finds a file that is not formatted", async () => {
    expect(await messages("format", "export  const x=1\n")).toBe("src/planted.ts:0 not formatted");
  });

  test("types, lint and format accept clean code", async () => {
    for (const name of ["types", "lint", "format"]) expect(await messages(name, "export const x = 1;\n")).toBe("");
  });
});

describe("unused", () => {
  beforeAll(() => {
    const manifest = { name: "planted", type: "module" };
    writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
    const entry = ["src/main.ts", "**/*.test.ts"];
    const { project } = JSON.parse(readFileSync(join(repository, "knip.json"), "utf8")) as { project: unknown };
    writeFileSync(join(root, "knip.json"), JSON.stringify({ entry, project }));
  });

  test("finds exported values and types, files and packages, in every folder", async () => {
    const texts = inEach((folder) => ({
      [`${folder}/a.test.ts`]: `import { used } from "./a.ts";\nimport "micromark";\nused();\n`,
      [`${folder}/a.ts`]: `export const unused = 1;\nexport type Unused = 1;\nexport function used(): void {}\n`,
      [`${folder}/b.ts`]: "export const b = 1;\n",
    }));
    const found = await messagesIn("unused", { ...texts, "src/main.ts": "" });
    const wanted = folders.flatMap((folder) => [
      `${folder}/a.test.ts:2 Unlisted dependencies: micromark`,
      `${folder}/a.ts:1 Unused exports: unused`,
      `${folder}/a.ts:2 Unused exported types: Unused`,
      `${folder}/b.ts:1 Unused files: ${folder}/b.ts`,
    ]);
    expect(found).toEqual(wanted.toSorted());
  });
});

describe("toolRule", () => {
  test("counts a tool that cannot be started or crashes as a problem", async () => {
    const silent = { parse: () => undefined, remedy: "" };
    for (const [command, args] of [
      ["no-such-tool", []],
      ["false", []],
    ] as const) {
      const { problems } = await toolRule("x", { ...silent, command, args }).run(plantedTree({}, root));
      expect(problems).toHaveLength(1);
      expect(problems[0]?.message).toContain(`${command} ended with`);
    }
  });
});
