import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Rule } from "../rule.ts";
import { toolRule, toolRules } from "./tools.ts";
import { plantedTree } from "../tree.ts";

const repository = resolve(import.meta.dirname, "../../..");
let root = "";

// A small project of its own with our configuration, so that each tool meets a planted error for real.
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "levee-tools-"));
  for (const file of ["tsconfig.json", ".oxlintrc.json", ".oxfmtrc.json"])
    cpSync(join(repository, file), join(root, file));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  mkdirSync(join(root, "src"));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function messages(name: string, source: string): Promise<string> {
  writeFileSync(join(root, "src", "planted.ts"), source);
  const { problems } = await ruleNamed(name).run(plantedTree({}, root));
  return problems.map((problem) => `${problem.file}:${problem.line} ${problem.message}`).join("\n");
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

  test("format finds a file that is not formatted", async () => {
    expect(await messages("format", "export  const x=1\n")).toBe("src/planted.ts:0 not formatted");
  });

  test("types, lint and format accept clean code", async () => {
    for (const name of ["types", "lint", "format"]) expect(await messages(name, "export const x = 1;\n")).toBe("");
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
