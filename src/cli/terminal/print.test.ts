import { describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { FakeScreen } from "../fake-shell.fixture.ts";
import { print, type OutputFormat } from "./print.ts";

function printed(format: OutputFormat, isWide = true): string {
  const screen = new FakeScreen(false);
  const value = { name: "web\u001b[31m", ips: ["10.0.0.2"], note: "one\ntwo", empty: [] };
  print(screen, format, { value, text: () => "table\n", ...(isWide ? { wide: () => "wide\n" } : {}) });
  return screen.text;
}

describe("print", () => {
  test("json is the value, indented, with control characters removed", () => {
    expect(JSON.parse(printed("json"))).toEqual({ name: "web", ips: ["10.0.0.2"], note: "one\ntwo", empty: [] });
    expect(printed("json")).toEndWith("}\n");
    expect(printed("json")).not.toContain("u001b");
  });

  test("yaml reads back as the same value", () => {
    expect(parse(printed("yaml"))).toEqual({ name: "web", ips: ["10.0.0.2"], note: "one\ntwo", empty: [] });
  });

  test("table and wide are the texts", () => {
    expect(printed("table")).toBe("table\n");
    expect(printed("wide")).toBe("wide\n");
  });

  test("wide falls back to the table where a command has nothing more to say", () => {
    expect(printed("wide", false)).toBe("table\n");
  });
});
