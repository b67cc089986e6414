import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

function check(...rules: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "main.ts"), ...rules], {
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

test("main names the rules when it is asked for one that does not exist", () => {
  const { status, output } = check("rungs");
  expect(status).toBe(2);
  expect(output).toContain("No such rule: rungs");
  expect(output).toContain("rings");
});

test("main runs only the rules it is asked for and sums up", () => {
  const { output } = check("file-names");
  expect(output).toMatch(/^[✓✗] file-names +\d+ ms$/m);
  expect(output).not.toContain("rings");
  expect(output).toMatch(/All 1 rules hold|1 of 1 rules broken/);
});
