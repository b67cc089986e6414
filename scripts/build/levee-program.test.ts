import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { compileLevee, programSources } from "./levee-program.ts";

const root = resolve(import.meta.dirname, "../..");
const packages = ["node_modules/yaml", "node_modules/commander"];
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-same-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function compiledIn(name: string): string {
  const checkout = join(folder, name);
  for (const path of [...programSources, ...packages]) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    cpSync(join(root, path), join(checkout, path), { recursive: true });
  }
  const to = join(checkout, `out-${name}`, "levee");
  mkdirSync(dirname(to));
  compileLevee(checkout, to);
  return createHash("sha256").update(readFileSync(to)).digest("hex");
}

test("compileLevee gives the same bytes in every folder", () => {
  expect(compiledIn("a")).toBe(compiledIn("another-folder-with-a-longer-name"));
}, 120_000);
