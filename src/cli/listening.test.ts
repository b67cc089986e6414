import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isListening } from "./listening.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-listening-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("isListening", () => {
  test("is true for a server only", async () => {
    const path = join(folder, "s.sock");
    expect(await isListening(path)).toBe(false);
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    expect(await isListening(path)).toBe(true);
    await new Promise((resolve) => server.close(resolve));
    expect(await isListening(path)).toBe(false);
  });

  test("is false for a file that is no socket", async () => {
    writeFileSync(join(folder, "file"), "");
    expect(await isListening(join(folder, "file"))).toBe(false);
  });
});
