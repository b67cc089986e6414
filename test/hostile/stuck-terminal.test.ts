import { dlopen, FFIType } from "bun:ffi";
import { afterEach, describe, expect, test } from "bun:test";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";

const libc = dlopen("libc.so.6", {
  posix_openpt: { args: [FFIType.i32], returns: FFIType.i32 },
  grantpt: { args: [FFIType.i32], returns: FFIType.i32 },
  unlockpt: { args: [FFIType.i32], returns: FFIType.i32 },
  ptsname: { args: [FFIType.i32], returns: FFIType.cstring },
});
const sources = join(import.meta.dir, "../../src");
const lines = 200;
const descriptors: number[] = [];

afterEach(() => {
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
});

/** A terminal without a reader until the test reads. */
function aTerminal(): { screen: number; terminal: number } {
  const flags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK;
  const screen = libc.symbols.posix_openpt(flags);
  expect(libc.symbols.grantpt(screen)).toBe(0);
  expect(libc.symbols.unlockpt(screen)).toBe(0);
  const terminal = openSync(String(libc.symbols.ptsname(screen)), constants.O_RDWR | constants.O_NOCTTY);
  descriptors.push(screen, terminal);
  return { screen, terminal };
}

/** A process with that terminal as its standard error, which writes more than fits and says so on its output. */
function writing(terminal: number, before = ""): { said: Promise<string>; exited: Promise<number> } {
  const code = `
    const { standardError } = await import("${sources}/daemon/standard-error.ts");
    const { systemClock } = await import("${sources}/base/clock.ts");
    ${before}
    const stream = standardError(systemClock);
    for (let line = 0; line < ${lines}; line += 1) stream.write("line " + line + " " + "x".repeat(200) + "\\n", () => {});
    require("node:fs").writeSync(1, "goes on");
    await stream.end();
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdio: ["ignore", "pipe", terminal] });
  return { said: firstOf(child.stdout), exited: child.exited };
}

async function firstOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read();
  return Buffer.from(value ?? []).toString();
}

/** All that is on the screen now. */
function shown(screen: number): string {
  const buffer = Buffer.alloc(65_536);
  let text = "";
  try {
    for (let bytes = readSync(screen, buffer); bytes > 0; bytes = readSync(screen, buffer))
      text += buffer.toString("utf8", 0, bytes);
  } catch {
    // Nothing more: EAGAIN.
  }
  return text;
}

describe("standardError on a terminal", () => {
  test("a reader that is stuck holds nothing up, and gets every line when it goes on", async () => {
    const { screen, terminal } = aTerminal();
    const { said, exited } = writing(terminal);
    // A write that waits would be a process that says nothing.
    expect(await Promise.race([said, systemClock.sleep(4_000)])).toBe("goes on");
    let text = "";
    const reading = setInterval(() => (text += shown(screen)), 1);
    expect(await exited).toBe(0);
    clearInterval(reading);
    expect(`${text}${shown(screen)}`.match(/line \d+ x{200}\r?\n/gu)).toHaveLength(lines);
  });

  test("one that cannot be opened again is written to as it is", async () => {
    const { screen, terminal } = aTerminal();
    const { said, exited } = writing(terminal, "process.setuid(65534);");
    let text = "";
    const reading = setInterval(() => (text += shown(screen)), 1);
    expect(await said).toBe("goes on");
    expect(await exited).toBe(0);
    clearInterval(reading);
    expect(`${text}${shown(screen)}`.match(/line \d+ x{200}\r?\n/gu)).toHaveLength(lines);
  });
});
