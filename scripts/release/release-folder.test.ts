import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReleaseFolder } from "./release-folder.ts";

let base = "";
let place = "";

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "levee-release-folder-"));
  place = join(base, "dist", "release");
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  using folder = new ReleaseFolder(place);
  for (const [path, text] of Object.entries(files)) folder.add(path, text);
  folder.finish();
}

describe("ReleaseFolder", () => {
  test("is there for everybody to read when it is finished, and nothing is beside it", () => {
    write({ "release.json": "{}", "sbom/a.json": "1" });
    expect(readdirSync(join(base, "dist"))).toEqual(["release"]);
    expect(readdirSync(place, { recursive: true }).toSorted()).toEqual(["release.json", "sbom", "sbom/a.json"]);
    expect(statSync(place).mode & 0o777).toBe(0o755);
  });

  test("replaces an earlier release as a whole", () => {
    write({ "release.json": "{}", "old": "1" });
    write({ "release.json": "{}", "new": "2" });
    expect(readdirSync(place).toSorted()).toEqual(["new", "release.json"]);
    expect(readdirSync(join(base, "dist"))).toEqual(["release"]);
  });

  test("leaves the earlier release as it was when it is not finished", () => {
    write({ "release.json": "1" });
    const fail = (): void => {
      using folder = new ReleaseFolder(place);
      folder.add("release.json", "2");
      throw new Error("the disk is full");
    };
    expect(fail).toThrow("the disk is full");
    expect(readFileSync(join(place, "release.json"), "utf8")).toBe("1");
    expect(readdirSync(join(base, "dist"))).toEqual(["release"]);
  });

  test("refuses a place that is something else, and takes an empty folder", () => {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "thesis.txt"), "years of work");
    expect(() => new ReleaseFolder(place)).toThrow(`Cannot write a release to ${place}: it is there already`);
    const file = join(place, "thesis.txt");
    expect(() => new ReleaseFolder(file)).toThrow("choose a new folder with --out");
    expect(readFileSync(file, "utf8")).toBe("years of work");
    rmSync(file);
    write({ "release.json": "{}" });
    expect(readdirSync(place)).toEqual(["release.json"]);
  });
});
