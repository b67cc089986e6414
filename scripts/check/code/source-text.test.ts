import { describe, expect, test } from "bun:test";
import { blankCommentsAndStrings, lineAt } from "./source-text.ts";

describe("blankCommentsAndStrings", () => {
  test("blanks line and block comments and keeps line breaks", () => {
    expect(blankCommentsAndStrings("a(); // b()\n/* c()\n d() */ e();")).toBe("a();       \n      \n        e();");
  });

  test("blanks the content of quotes and keeps the quotes", () => {
    expect(blankCommentsAndStrings(`f("a\\"b", 'c//d')`)).toBe(`f("    ", '    ')`);
  });

  test("shows the code in a template's holes and hides the text around it", () => {
    expect(blankCommentsAndStrings("`x ${f({ a: 1 })} y ${g(/* h() */)} z`")).toBe(
      "     f({ a: 1 })      g(         )    ",
    );
  });

  test("hides regular expressions but not division", () => {
    expect(blankCommentsAndStrings("x = /Date.now/; y = a / b / c;")).toBe("x = /        /; y = a / b / c;");
    expect(blankCommentsAndStrings(`x(/["/]/, f());`)).toBe("x(/    /, f());");
  });

  test("refuses text that is no TypeScript: a rule would look at half of it", () => {
    expect(() => blankCommentsAndStrings("const x = `${")).toThrow("Cannot parse TypeScript");
  });
});

describe("lineAt", () => {
  test("counts from one", () => {
    expect(lineAt("a\nb\nc", 0)).toBe(1);
    expect(lineAt("a\nb\nc", 4)).toBe(3);
  });
});
