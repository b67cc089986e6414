import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
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

  test("puts the earlier release back when it cannot take its place", () => {
    write({ "release.json": "1" });
    using folder = new ReleaseFolder(place);
    const [fresh = ""] = readdirSync(join(base, "dist")).filter((name) => name.startsWith(".levee-release-"));
    rmSync(join(base, "dist", fresh), { recursive: true });
    expect(() => folder.finish()).toThrow(`Cannot write to ${place}: `);
    expect(readFileSync(join(place, "release.json"), "utf8")).toBe("1");
    expect(readdirSync(join(base, "dist"))).toEqual(["release"]);
  });

  test("removes the unfinished folder of a killed run, and none of a running one", () => {
    const [dead, alive] = [spawnSync("true").pid, process.ppid].map((pid) => `.levee-release-${pid}-x1y2z3`);
    for (const name of [dead, alive]) mkdirSync(join(base, "dist", name ?? "", "sbom"), { recursive: true });
    write({ "release.json": "{}" });
    expect(readdirSync(join(base, "dist")).toSorted()).toEqual([alive ?? "", "release"]);
  });

  test("names the file that a full disk does not take, and leaves nothing", () => {
    mkdirSync(join(base, "dist"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", join(base, "dist")]);
    try {
      const fail = (): void => {
        using folder = new ReleaseFolder(place);
        folder.add("sbom/large.json", "x".repeat(1 << 20));
      };
      expect(fail).toThrow("sbom/large.json: the disk is full; choose another folder with --out");
      expect(readdirSync(join(base, "dist"))).toEqual([]);
    } finally {
      execFileSync("umount", [join(base, "dist")]);
    }
  });

  test("says in words where it cannot be", () => {
    writeFileSync(join(base, "file"), "");
    expect(() => new ReleaseFolder(join(base, "file", "release"))).toThrow(
      `Cannot write to ${join(base, "file")}: it is a file, or lies below one; choose another folder with --out`,
    );
    expect(() => new ReleaseFolder("/proc/levee/release")).toThrow(
      "Cannot write to /proc/levee: no folder can be made there",
    );
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
