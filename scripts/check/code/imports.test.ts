import { expect, test } from "bun:test";
import { importsOf } from "./imports.ts";

test("importsOf finds every form of import with its line", () => {
  const source = [
    `import "./side.ts";`,
    `import type { A } from "./a.ts";`,
    `import {`,
    `  b,`,
    `  type C as D,`,
    `} from "./b.ts";`,
    `export * from "./e.ts";`,
    `export type { F } from "./f.ts";`,
    `const yaml = await import("yaml");`,
    `type Yaml = typeof import("yaml");`,
  ].join("\n");
  expect(importsOf(source).map(({ from, line, isType, isDynamic }) => [from, line, isType, isDynamic])).toEqual([
    ["./side.ts", 1, false, false],
    ["./a.ts", 2, true, false],
    ["./b.ts", 3, false, false],
    ["./e.ts", 7, false, false],
    ["./f.ts", 8, true, false],
    ["yaml", 9, false, true],
    ["yaml", 10, true, true],
  ]);
});

test("importsOf ignores comments and exports that import nothing", () => {
  const source = `// import "./x.ts";\n/* import y from "./y.ts"; */\nexport const from = "./z.ts";\nexport function f(): string { return "a"; }`;
  expect(importsOf(source)).toEqual([]);
});

test("importsOf ignores a program that is written as text", () => {
  const source = 'const program = `\nimport "./x.ts";\nawait import("yaml");\n`;\nconst other = "import(\\"y\\")";';
  expect(importsOf(source)).toEqual([]);
});
