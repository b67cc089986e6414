import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Sandbox } from "./sandbox.ts";
import { ScriptedDaemon } from "./scripted-daemon.ts";

const binary = join(import.meta.dir, "../../shim/target/release/levee-shim");
const mebibyte = 1024 * 1024;

/** Types of an ELF file's program headers. */
function programHeaders(file: Buffer): number[] {
  const [at, size, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => file.readUInt32LE(at + index * size));
}

test("the binary is static and under 1.8 MiB", () => {
  const interpreter = 3;
  expect(programHeaders(readFileSync(binary))).not.toContain(interpreter);
  expect(statSync(binary).size).toBeLessThan(1.8 * mebibyte);
});

/** A few pages more or less from one to the next: the place of the stack is random. */
const shims = 60;

test("waiting shims take 1.5 MiB at most on average, of which less than 256 KiB are their own, and one thread", async () => {
  const sandbox = new Sandbox();
  const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  const residentKib: number[] = [];
  for (let turn = 0; turn < shims; turn += 1) {
    const shim = sandbox.call("ADD");
    const peer = await daemon.accept();
    await peer.begin();
    const status = readFileSync(`/proc/${shim.pid}/status`, "utf8");
    const number = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
    residentKib.push(number("VmRSS"));
    // The rest is the program itself, which all shims of a storm share.
    expect(number("RssAnon")).toBeLessThan(256);
    expect(number("Threads")).toBe(1);
    await peer.finish();
    await shim.exited;
  }
  expect(residentKib.reduce((sum, kib) => sum + kib, 0) / shims).toBeLessThanOrEqual(1536);
  expect(Math.max(...residentKib)).toBeLessThan(1750);
  await daemon.kill();
  sandbox.clean();
});
