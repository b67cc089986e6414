import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forgetMade, madeImages, noteMade, type Images } from "./made-images.ts";

const key = "3a7b";
const [yesterday, today] = [new Date("2026-11-15T00:00:00Z"), new Date("2026-11-16T00:00:00Z")];
const images: Images = {
  version: "1.2.3",
  images: [{ name: "levee", archive: "levee.oci.tar", digest: `sha256:${"1".repeat(64)}`, platforms: {} }],
};
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-made-"));
  writeFileSync(join(folder, "levee.oci.tar"), "archive");
  noteMade(folder, images, { key, createdAt: yesterday });
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

test("madeImages takes no list whose archive is gone, and none that was forgotten", () => {
  rmSync(join(folder, "levee.oci.tar"));
  expect(madeImages(folder, { key, createdAt: yesterday })).toBeUndefined();
  writeFileSync(join(folder, "levee.oci.tar"), "another");
  forgetMade(folder);
  expect(madeImages(folder, { key, createdAt: undefined })).toBeUndefined();
});
