import { afterEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { LogOutput } from "../base/log-output.ts";
import { DescriptorStream } from "./descriptor-stream.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** The two non-blocking ends of a pipe. */
function aPipe(): { reader: number; writer: number } {
  const folder = mkdtempSync(join(tmpdir(), "levee-pipe-"));
  cleanUps.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "pipe");
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

/** All that is in the pipe now. */
function drained(reader: number): string {
  const parts: string[] = [];
  const buffer = Buffer.alloc(65_536);
  try {
    for (let bytes = readSync(reader, buffer); bytes > 0; bytes = readSync(reader, buffer))
      parts.push(buffer.toString("utf8", 0, bytes));
  } catch {
    // It is empty: EAGAIN.
  }
  return parts.join("");
}

describe("DescriptorStream", () => {
  test("keeps what a full pipe does not take, and writes it in order once there is a reader", async () => {
    const { reader, writer } = aPipe();
    const stream = new DescriptorStream(writer, systemClock);
    const lines = Array.from({ length: 200 }, (_, index) => `${index} ${"ä".repeat(500)}\n`);
    let done = 0;
    for (const line of lines) stream.write(line, () => (done += 1));
    expect(done).toBeLessThan(lines.length);
    let text = "";
    const reading = setInterval(() => (text += drained(reader)), 5);
    await stream.end();
    clearInterval(reading);
    expect(done).toBe(lines.length);
    expect(text + drained(reader)).toBe(lines.join(""));
    closeSync(reader);
    closeSync(writer);
  });

  test("reports to LogOutput what a pipe without a reader does not take", () => {
    const { reader, writer } = aPipe();
    closeSync(reader);
    const output = new LogOutput(new DescriptorStream(writer, systemClock), systemClock);
    output.write("lost\n");
    output.write("lost too\n");
    expect(output.dropped).toBe(2);
    closeSync(writer);
  });

  test("ends despite a stuck reader", async () => {
    const { reader, writer } = aPipe();
    const clock = { ...systemClock, sleep: () => Promise.resolve(), after: () => () => undefined };
    const stream = new DescriptorStream(writer, clock);
    stream.write("x".repeat(200_000), () => undefined);
    await stream.end();
    expect(drained(reader).length).toBeLessThan(200_000);
    closeSync(reader);
    closeSync(writer);
  });
});
