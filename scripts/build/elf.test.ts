import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { elfProblem } from "./elf.ts";

const limit = 1024 * 1024;

/** The smallest header with one program segment of the given type. */
function elf(segmentType: number): Buffer {
  const program = Buffer.alloc(64 + 56);
  program.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  program.writeBigUInt64LE(64n, 32);
  program.writeUInt16LE(56, 54);
  program.writeUInt16LE(1, 56);
  program.writeUInt32LE(segmentType, 64);
  return program;
}

describe("elfProblem", () => {
  test("accepts a static program", () => {
    expect(elfProblem(elf(1), limit)).toBeUndefined();
  });

  test("refuses a program that needs a dynamic loader", () => {
    expect(elfProblem(elf(3), limit)).toContain("not static");
    expect(elfProblem(readFileSync("/bin/sh"), 16 * limit)).toContain("not static");
  });

  test("refuses a program over the limit", () => {
    expect(elfProblem(Buffer.alloc(limit + 1), limit)).toBe(`it has ${limit + 1} bytes, the limit is ${limit}`);
  });

  test("refuses what is not a 64-bit program", () => {
    expect(elfProblem(Buffer.from("#!/bin/sh\n"), limit)).toBe("it is not an ELF program");
    const small = elf(1);
    small.writeUInt8(1, 4);
    expect(elfProblem(small, limit)).toBe("it is not 64-bit little endian");
  });
});
