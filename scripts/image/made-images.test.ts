import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FreshArchives, madeImages, type Images } from "./made-images.ts";

const key = "3a7b";
const [yesterday, today] = [new Date("2026-11-15T00:00:00Z"), new Date("2026-11-16T00:00:00Z")];
const images: Images = {
  version: "1.2.3",
  images: [{ name: "levee", archive: "levee.oci.tar", digest: `sha256:${"1".repeat(64)}`, platforms: {} }],
};
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-made-"));
  using archives = new FreshArchives(folder);
  archives.add("levee.oci.tar", Buffer.from("archive"));
  archives.finish(images, { key, createdAt: yesterday });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("madeImages finds images that were made of the same", () => {
  expect(madeImages(folder, { key, createdAt: yesterday })).toEqual(images);
});

test("madeImages takes another date only where any will do", () => {
  expect(madeImages(folder, { key, createdAt: today })).toBeUndefined();
  expect(madeImages(folder, { key, createdAt: undefined })).toEqual(images);
});

test("madeImages takes nothing that was made of something else", () => {
  expect(madeImages(folder, { key: "9f0c", createdAt: undefined })).toBeUndefined();
});

test("madeImages takes no list whose archive is gone", () => {
  rmSync(join(folder, "levee.oci.tar"));
  expect(madeImages(folder, { key, createdAt: yesterday })).toBeUndefined();
});

test("FreshArchives leave the earlier ones with their list when one of them cannot be made", () => {
  const fail = (): void => {
    using archives = new FreshArchives(folder);
    archives.add("levee.oci.tar", Buffer.from("another"));
    throw new Error("no such package");
  };
  expect(fail).toThrow("no such package");
  expect(madeImages(folder, { key, createdAt: yesterday })).toEqual(images);
  expect(readFileSync(join(folder, "levee.oci.tar"), "utf8")).toBe("archive");
  expect(readdirSync(folder).toSorted()).toEqual([".inputs", "images.json", "levee.oci.tar"]);
});

test("FreshArchives name the file that a full disk does not take, and leave nothing", () => {
  const small = join(folder, "small");
  mkdirSync(small);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small]);
  try {
    const fail = (): void => {
      using archives = new FreshArchives(small);
      archives.add("levee.oci.tar", Buffer.from("x"));
      archives.add("levee-guard.oci.tar", Buffer.alloc(1 << 20));
    };
    expect(fail).toThrow(`${join(small, "levee-guard.oci.tar")}: the disk is full; choose another folder with --out`);
    expect(readdirSync(small)).toEqual([]);
  } finally {
    execFileSync("umount", [small]);
  }
});

test("FreshArchives remove the unfinished files of a killed run", () => {
  writeFileSync(join(folder, `levee.oci.tar.${spawnSync("true").pid}.tmp`), "half");
  using _ = new FreshArchives(folder);
  expect(readdirSync(folder).toSorted()).toEqual([".inputs", "images.json", "levee.oci.tar"]);
});

test("FreshArchives say in words that a folder cannot be written to", () => {
  expect(() => new FreshArchives(join(folder, "levee.oci.tar"))).toThrow("it is a file, or lies below one");
});
