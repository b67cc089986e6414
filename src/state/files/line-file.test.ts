import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { aFolder } from "../journal/record.fixture.ts";
import { encodeLine, readLines } from "./checked-line.ts";
import { LineFile } from "./line-file.ts";

const partBytes = 64;

async function segmentsOf(content: Buffer, bytes = partBytes): Promise<readonly unknown[]> {
  const path = join(await aFolder(), "lines");
  await writeFile(path, content);
  using file = LineFile.open(path, bytes);
  return [...(file?.segments("L", file.fileBytes) ?? [])];
}

/** A small generator, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

test("LineFile reads in parts what readLines reads at once, whatever the damage", async () => {
  const next = random(7);
  for (let trial = 0; trial < 300; trial += 1) {
    const lines = Array.from({ length: 12 }, () => encodeLine("L", JSON.stringify("é".repeat(next() * 90))));
    const content = Buffer.from(lines.join(""));
    for (let hits = next() * 4; hits > 1; hits -= 1) content[Math.floor(next() * content.length)] = next() * 256;
    const cut = content.subarray(0, content.length - Math.floor(next() * 40));
    expect({ trial, segments: await segmentsOf(cut) }).toEqual({ trial, segments: [...readLines(cut, "L")] });
  }
});

test("LineFile knows where the lines end and the room begins", async () => {
  const line = encodeLine("L", '"x"');
  const path = join(await aFolder(), "lines");
  for (const [zeros, text] of [
    [0, line],
    [partBytes * 3 + 5, line],
    [partBytes, ""],
    [0, ""],
  ] as const) {
    await writeFile(path, Buffer.concat([Buffer.from(text), Buffer.alloc(zeros)]));
    using file = LineFile.open(path, partBytes);
    expect([file?.linesBytes, file?.fileBytes]).toEqual([text.length, text.length + zeros]);
  }
});

test("LineFile.open gives nothing for a file that is not there, and throws for one that cannot be read", async () => {
  const folder = await aFolder();
  expect(LineFile.open(join(folder, "none"))).toBeUndefined();
  expect(LineFile.open(join(folder, "none", "none"))).toBeUndefined();
  await mkdir(join(folder, "folder"));
  expect(() => LineFile.open(join(folder, "folder"))).toThrow("EISDIR");
});
