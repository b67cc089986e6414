import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { triedWord } from "../image/initramfs.ts";
import { findAccelerator } from "./accelerator.ts";

const folder = mkdtempSync(join(tmpdir(), "levee-accelerator-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program in the place of QEMU. */
function standIn(name: string, script: string): { device: string; program: string; timeoutMs: number } {
  const program = join(folder, name);
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return { device: "/dev/null", program, timeoutMs: 2_000 };
}

test("findAccelerator takes KVM when a kernel says its word with it", async () => {
  const asked = standIn("boots", `case "$*" in *"-accel kvm"*levee.try*) echo "${triedWord}"; exec sleep 60 ;; esac`);
  expect(await findAccelerator("image", asked)).toBe("kvm");
});

test("findAccelerator emulates when the guest hangs, when QEMU fails, and without QEMU or the device", async () => {
  expect(await findAccelerator("image", { ...standIn("hangs", "exec sleep 60"), timeoutMs: 200 })).toBe("tcg");
  expect(await findAccelerator("image", standIn("fails", "exit 1"))).toBe("tcg");
  expect(await findAccelerator("image", { device: "/dev/null", program: join(folder, "absent") })).toBe("tcg");
  expect(await findAccelerator("image", { device: join(folder, "absent") })).toBe("tcg");
});
