import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { madeVmImage, vmImage } from "./vm-image.ts";

const cache = mkdtempSync(join(tmpdir(), "levee-vm-image-"));
const before = { PATH: process.env["PATH"], XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] };
afterAll(() => {
  Object.assign(process.env, before);
  if (before.XDG_CACHE_HOME === undefined) delete process.env["XDG_CACHE_HOME"];
  rmSync(cache, { recursive: true, force: true });
});

test("vmImage says why it could not be made, and leaves nothing that counts as an image", () => {
  process.env["XDG_CACHE_HOME"] = cache;
  process.env["PATH"] = cache;
  expect(vmImage("12")).toEqual({
    missing: expect.stringMatching(/^the image of the virtual machine could not be made: mmdebstrap /u),
  });
  expect(readdirSync(join(cache, "levee"))).toEqual([]);
  expect(madeVmImage("12")).toBeUndefined();
});
