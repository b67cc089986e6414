import { describe, expect, test } from "bun:test";
import { blankComments, blankCommentsAndStrings, lineAt } from "./source-text.ts";

describe("blankComments", () => {
  test("blanks line and block comments and keeps line breaks", () => {
    const source = "a(); // b()\n/* c()\n d() */ e();";
    expect(blankComments(source)).toBe("a();       \n      \n        e();");
  });

  test("leaves comment marks inside strings alone", () => {
    const source = `const url = "a//b"; const t = \`/* \${a /* b */} */\`;`;
    expect(blankComments(source)).toBe(`const url = "a//b"; const t = \`/* \${a        } */\`;`);
  });

  test("keeps the length of whatever it is given", () => {
    for (const source of ["", '"', "`${", "/*", "//", "'a\\", "/re", "}}}{", "`${`${x}`}`"]) {
      expect(blankComments(source)).toHaveLength(source.length);
      expect(blankCommentsAndStrings(source)).toHaveLength(source.length);
    }
  });
});

describe("blankCommentsAndStrings", () => {
  test("blanks the content of quotes and keeps the quotes", () => {
    expect(blankCommentsAndStrings(`f("a\\"b", 'c')`)).toBe(`f("    ", ' ')`);
  });

  test("shows the code in a template's holes and hides the text around it", () => {
    expect(blankCommentsAndStrings("`x ${f({ a: 1 })} y ${g()} z`")).toBe("`   {f({ a: 1 })}    {g()}  `");
  });

  test("hides regular expressions but not division", () => {
    expect(blankCommentsAndStrings("x = /Date.now/g; y = a / b / c;")).toBe("x = /        /g; y = a / b / c;");
  });

  test("knows a quote inside a regular expression's class", () => {
    expect(blankCommentsAndStrings(`x(/["/]/, f());`)).toBe("x(/    /, f());");
  });
});

describe("lineAt", () => {
  test("counts from one", () => {
    expect(lineAt("a\nb\nc", 0)).toBe(1);
    expect(lineAt("a\nb\nc", 4)).toBe(3);
  });
});
