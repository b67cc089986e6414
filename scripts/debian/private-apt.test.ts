import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrivateApt } from "./private-apt.ts";

const before = { PATH: process.env["PATH"], XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] };
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-apt-"));
  for (const name of ["bin", "cache"]) mkdirSync(join(folder, name));
  // An apt-get that hangs, as the real one does when the disk is full.
  writeFileSync(join(folder, "bin/apt-get"), "#!/bin/sh\nexec sleep 30\n");
  chmodSync(join(folder, "bin/apt-get"), 0o755);
  process.env["PATH"] = `${join(folder, "bin")}:${before.PATH ?? ""}`;
  process.env["XDG_CACHE_HOME"] = join(folder, "cache");
});

afterEach(() => {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  rmSync(folder, { recursive: true, force: true });
});

test("PrivateApt does not wait for ever for an apt that hangs", () => {
  const apt = new PrivateApt("amd64", { patienceMs: 300 });
  expect(() => apt.update()).toThrow("apt-get update has not ended within 0 s; check the machine's package sources");
});

test("PrivateApt names the full disk on which apt hangs", () => {
  const cache = join(folder, "cache");
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", cache]);
  try {
    const apt = new PrivateApt("amd64", { patienceMs: 300 });
    expect(() => writeFileSync(join(cache, "ballast"), Buffer.alloc(1 << 20))).toThrow("ENOSPC");
    expect(() => apt.update()).toThrow(`the disk of ${join(cache, "levee/apt/amd64")} is full`);
  } finally {
    execFileSync("umount", [cache]);
  }
});
