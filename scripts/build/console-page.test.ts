import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundlePage, compressedBytes } from "./console-page.ts";

const root = resolve(import.meta.dirname, "../..");
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-page-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function checkout(name: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  for (const path of ["console", "src/wire", "package.json", "tsconfig.json"])
    cpSync(join(root, path), join(place, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
  return place;
}

function bundledIn(name: string): string {
  const to = join(folder, `${name}.txt`);
  bundlePage(checkout(name), to);
  return readFileSync(to, "utf8");
}

test("bundlePage gives the same bytes in every folder, with no address of others in them", () => {
  const text = bundledIn("a");
  expect(bundledIn("another-folder-with-a-longer-name")).toBe(text);
  const { html, script, style } = JSON.parse(text) as Record<"html" | "script" | "style", string>;
  expect(html).not.toMatch(/https?:|<script(?! type="module" src="console\.js")|style=/u);
  expect(style).not.toMatch(/url\(|@import/u);
  expect(script).not.toMatch(/https?:\/\/(?!www\.w3\.org)/u);
});

test("bundlePage refuses a script that is too large, and one that cannot be bundled", () => {
  const place = checkout("large");
  const noise = Array.from({ length: 40_000 }, (_unused, index) => Bun.hash(String(index)).toString(36)).join("");
  writeFileSync(join(place, "console/main.tsx"), `globalThis.noise = "${noise}";\n`);
  expect(() => bundlePage(place, join(folder, "x"))).toThrow(
    /its script has \d+ bytes compressed, the limit is 122880/u,
  );
  writeFileSync(join(place, "console/main.tsx"), `import "./nowhere.ts";\n`);
  expect(() => bundlePage(place, join(folder, "x"))).toThrow("Cannot bundle");
});

test("compressedBytes counts what a browser would load", () => {
  expect(compressedBytes("a".repeat(10_000))).toBeLessThan(100);
});
