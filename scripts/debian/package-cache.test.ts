import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageFiles, type PackageCache, type Source } from "./package-cache.ts";
import type { Pin } from "./pins.ts";

let folder = "";
let fetched: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-cache-"));
  fetched = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function pin(name: string, content = name, version = "1"): Pin {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { name, architecture: "arm64", version, sha256 };
}

/** A source with version 1 of every package whose content is its name. */
function cache(problem?: string): PackageCache {
  const source: Source = {
    update: () => {},
    hasVersion: (_name, version) => version === "1",
    offers: (names) => names.map((name) => ({ name, version: "1" })),
    download(to, packages) {
      for (const { name } of packages) {
        fetched.push(name);
        writeFileSync(join(to, `${name}_1_arm64.deb`), name);
      }
      return problem;
    },
  };
  return { folder: join(folder, "cache"), source: () => source };
}

test("packageFiles fetches what is missing once, and keeps it by its hash", () => {
  const [a, b] = [pin("a"), pin("b")];
  packageFiles([a], cache());
  const files = packageFiles([a, b], cache());
  expect(fetched).toEqual(["a", "b"]);
  expect(readFileSync(files.get(b) ?? "", "utf8")).toBe("b");
  expect(readdirSync(join(folder, "cache")).toSorted()).toEqual([`${a.sha256}.deb`, `${b.sha256}.deb`].toSorted());
});

test("packageFiles fetches a damaged file again", () => {
  const a = pin("a");
  const file = packageFiles([a], cache()).get(a) ?? "";
  writeFileSync(file, "");
  expect(readFileSync(packageFiles([a], cache()).get(a) ?? "", "utf8")).toBe("a");
});

test("packageFiles names a version that is no longer offered, what is offered, and the remedy", () => {
  expect(() => packageFiles([pin("a"), pin("b", "b", "0.9")], cache())).toThrow(
    "deploy/image/packages.json pins: b 0.9 (arm64; offered is 1). The machine's sources have moved on: npm run image -- --bump",
  );
  expect(fetched).toEqual([]);
});

test("packageFiles refuses content that is not as pinned, and keeps none of it", () => {
  const changed = pin("a", "as it was");
  expect(() => packageFiles([changed], cache())).toThrow(
    `Cannot use a 1 (arm64): the machine's sources give it with another SHA-256 than ${changed.sha256}`,
  );
  expect(readdirSync(join(folder, "cache"))).toEqual([]);
});

test("packageFiles passes on why a download failed", () => {
  expect(() => packageFiles([pin("a")], cache("no route to host"))).toThrow(
    "Cannot fetch Debian packages: no route to host",
  );
});
