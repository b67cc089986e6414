import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../failure-of.fixture.ts";
import { chooseLocked, parseVendorLock, readVendorLock, vendorLockText, type VendoredFile } from "./vendor-lock.ts";

const file: VendoredFile = {
  path: "apps/cdi/operator.yaml",
  url: "https://example.com/v1.0.0/operator.yaml",
  sha256: "0123456789abcdef".repeat(4),
  bytes: 17,
  images: [{ image: "example.com/a:v1" }, { image: "example.com/b:v1", digest: `sha256:${"b".repeat(64)}` }],
};
const other = { ...file, path: "apps/a.yaml" };

describe("vendorLockText", () => {
  test("is read back as it was, sorted by path", () => {
    expect(parseVendorLock(vendorLockText([file, other]))).toEqual([other, file]);
    expect(vendorLockText([file, other])).toBe(vendorLockText([other, file]));
    expect(parseVendorLock(vendorLockText([]))).toEqual([]);
  });
});

/** A good lock with one thing replaced. */
function planted(from: string, to: string): string {
  const text = vendorLockText([file]);
  expect(text).toContain(from);
  return text.replace(from, to);
}

describe("parseVendorLock", () => {
  test.each([
    [planted("version: 1", "version: 2"), "version must be 1: current value is 2"],
    [planted("version: 1\n", ""), "version must be 1: current value is nothing"],
    [planted("files:", "file:"), 'the file has the unknown field "file"'],
    [planted("    bytes: 17", "    bytes: -1"), "files[0].bytes must be a whole number above 0: current value is -1"],
    [planted("    bytes: 17", '    bytes: "17"'), 'current value is "17"'],
    [planted("    bytes: 17", "    bytes: 17\n    note: x"), 'files[0] has the unknown field "note"'],
    [planted("0123456789abcdef", "0123456789ABCDEF"), "files[0].sha256 must be 64 hexadecimal digits in lower case"],
    [planted("https://example.com/v1.0.0", "git://x"), "files[0].url must be a URL"],
    [planted("apps/cdi/operator.yaml", "../operator.yaml"), "files[0].path must not climb"],
    [planted("apps/cdi/operator.yaml", "/etc/operator.yaml"), "files[0].path must be relative"],
    [planted("sha256:bbbb", "sha256:xbbb"), "files[0].images[1].digest must be sha256: and 64 hexadecimal digits"],
    [planted("image: example.com/a:v1", "image: 7"), "files[0].images[0].image must be an image: current value is 7"],
    ["version: 1\nfiles: none\n", "files must be a list"],
    ["version: 1\nfiles: [a]\n", "files[0] must be a map"],
    ["- a\n", "the file must be a map"],
    ["", "the file must be a map"],
    ["version: 1\nversion: 1\nfiles: []\n", "Map keys must be unique"],
    ["<<<<<<< HEAD\nversion: 1\n", "Cannot use vendor.lock.yaml"],
  ])("refuses %#", (text, why) => {
    expect(() => parseVendorLock(text)).toThrow(why);
  });

  test("refuses two entries with one path, and says which", () => {
    const entry = vendorLockText([file]).split("files:\n")[1] ?? "";
    expect(() => parseVendorLock(vendorLockText([file]) + entry)).toThrow(
      'files[0] and files[1] have one path, "apps/cdi/operator.yaml"',
    );
  });
});

test("readVendorLock takes no file for an empty lock, and no link for a file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "levee-vendor-lock-"));
  try {
    expect(await readVendorLock(folder)).toEqual([]);
    writeFileSync(join(folder, "real.yaml"), vendorLockText([file]));
    symlinkSync("real.yaml", join(folder, "vendor.lock.yaml"));
    expect((await failureOf(readVendorLock(folder))).message).toContain("it is a symbolic link");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("chooseLocked takes files, and folders as a whole", () => {
  const third = { ...file, path: "apps/cdi-more/x.yaml" };
  const all = [file, other, third];
  const paths = (...wanted: readonly string[]): readonly string[] => chooseLocked(all, wanted).map(({ path }) => path);
  expect(paths()).toEqual(all.map(({ path }) => path));
  expect(paths("apps/cdi")).toEqual([file.path]);
  expect(paths("./apps/cdi/", "apps/a.yaml")).toEqual([file.path, other.path]);
  expect(() => paths("apps/cd")).toThrow("Cannot find apps/cd in vendor.lock.yaml");
});
