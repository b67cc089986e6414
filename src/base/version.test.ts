import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { version } from "./version.ts";

const root = join(import.meta.dir, "../..");

test("version is the one of package.json", async () => {
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  expect(version).toBe(manifest.version);
});

test("version is the one of the shim", async () => {
  expect(await readFile(join(root, "shim/Cargo.toml"), "utf8")).toContain(`version = "${version}"`);
});
