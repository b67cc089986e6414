import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Clock } from "../base/clock.ts";
import { Contents } from "./contents.ts";
import { limits } from "./limits.ts";
import { loadParser, type ParseFile } from "./parse-file.ts";

let folder: string;
let parsed: string[];
let contents: Contents;
/** Ahead of the files' times, so that they count as settled. */
const laterClock: Clock = { ...systemClock, wallMs: () => Date.now() + 60_000 };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "levee-contents-"));
  parsed = [];
  contents = await makeContents(laterClock);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function makeContents(clock: Clock): Promise<Contents> {
  const parse = await loadParser();
  const counting: ParseFile = (bytes) => {
    parsed.push(new TextDecoder().decode(bytes.subarray(0, 40)));
    return parse(bytes);
  };
  return new Contents({ folder, clock, parse: counting, onFolder: () => undefined });
}

function pod(name: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name } });
}

function write(file: string, text: string): void {
  mkdirSync(join(folder, file, ".."), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function podNames(): string[] {
  return [...contents.files.values()].flatMap(({ manifest }) => manifest.pods.map(({ name }) => String(name)));
}

describe("Contents.refresh", () => {
  test("says whether anything has changed", async () => {
    expect(await contents.refresh()).toBe(false);
    write("a.yaml", pod("a"));
    expect(await contents.refresh()).toBe(true);
    expect(await contents.refresh()).toBe(false);
    rmSync(join(folder, "a.yaml"));
    expect(await contents.refresh()).toBe(true);
    expect(contents.files.size).toBe(0);
  });

  test("parses a file once as long as it stays the same", async () => {
    write("a.yaml", pod("a"));
    await contents.refresh();
    await contents.refresh();
    const { atime } = statSync(join(folder, "a.yaml"));
    utimesSync(join(folder, "a.yaml"), atime, new Date(0));
    expect(await contents.refresh()).toBe(false);
    expect(parsed).toHaveLength(1);
  });

  test("reads a file again that changed a moment ago, without parsing equal content", async () => {
    contents = await makeContents(systemClock);
    write("a.yaml", pod("a"));
    await contents.refresh();
    expect(contents.files.get("a.yaml")?.mark?.isFresh).toBe(true);
    await contents.refresh();
    expect(parsed).toHaveLength(1);
  });

  test("sees a file whose time and size were put back", async () => {
    write("a.yaml", pod("a"));
    const { atime, mtime } = statSync(join(folder, "a.yaml"));
    await contents.refresh();
    await systemClock.sleep(20);
    write("a.yaml", pod("b"));
    utimesSync(join(folder, "a.yaml"), atime, mtime);
    expect(await contents.refresh()).toBe(true);
    expect(podNames()).toEqual(["b"]);
  });

  test("keeps files in the order of their names", async () => {
    for (const file of ["z.yaml", "a.yaml", "m/x.yaml"]) write(file, pod(file.slice(0, 1)));
    await contents.refresh();
    expect([...contents.files.keys()]).toEqual(["a.yaml", "m/x.yaml", "z.yaml"]);
  });
});

describe("Contents keeps the last good content of", () => {
  test("a file that has become too large", async () => {
    write("a.yaml", pod("a"));
    await contents.refresh();
    write("a.yaml", `${pod("b")}\n#${"x".repeat(limits.fileBytesMax)}`);
    expect(await contents.refresh()).toBe(false);
    expect(podNames()).toEqual(["a"]);
    expect(contents.problems()[0]?.reason).toContain(`may have at most ${limits.fileBytesMax} bytes: current size is`);
  });

  test("a file that has become binary, and reads it again when it is fixed", async () => {
    write("a.yaml", pod("a"));
    await contents.refresh();
    writeFileSync(join(folder, "a.yaml"), Uint8Array.of(0, 255, 1));
    expect(await contents.refresh()).toBe(false);
    expect(contents.problems()).toHaveLength(1);
    expect(podNames()).toEqual(["a"]);
    write("a.yaml", pod("a2"));
    expect(await contents.refresh()).toBe(true);
    expect(podNames()).toEqual(["a2"]);
    expect(contents.problems()).toEqual([]);
  });

  test("the whole folder while it cannot be read", async () => {
    write("a.yaml", pod("a"));
    await contents.refresh();
    renameSync(folder, `${folder}.away`);
    expect(await contents.refresh()).toBe(false);
    expect(podNames()).toEqual(["a"]);
    expect(contents.problems()[0]).toMatchObject({ file: "", reason: expect.stringContaining("ENOENT") });
    renameSync(`${folder}.away`, folder);
    expect(await contents.refresh()).toBe(false);
    expect(contents.problems()).toEqual([]);
  });
});

describe("Contents leaves out", () => {
  test("a file one byte over the limit, but not one of exactly the limit", async () => {
    const text = `${pod("a")}\n#`;
    write("a.yaml", text.padEnd(limits.fileBytesMax, "x"));
    write("b.yaml", text.padEnd(limits.fileBytesMax + 1, "x"));
    await contents.refresh();
    expect(podNames()).toEqual(["a"]);
    expect(contents.problems().map(({ file }) => file)).toEqual(["b.yaml"]);
  });

  test("the files past the limit of all files together", async () => {
    const filling = Math.ceil(limits.totalBytesMax / limits.fileBytesMax) + 1;
    for (let index = 0; index < filling; index += 1)
      write(`f${String(index).padStart(3, "0")}.yaml`, "#".padEnd(limits.fileBytesMax, "x"));
    write("z.yaml", pod("z"));
    await contents.refresh();
    expect(contents.problems().map(({ file }) => file)).toEqual([`f${filling - 1}.yaml`, "z.yaml"]);
    expect(podNames()).toEqual([]);
  }, 30_000);

  test("a pipe that takes a file's place, without waiting for a writer", async () => {
    write("a.yaml", pod("a"));
    await contents.refresh();
    rmSync(join(folder, "a.yaml"));
    execFileSync("mkfifo", [join(folder, "a.yaml")]);
    expect(await contents.refresh()).toBe(true);
    expect(podNames()).toEqual([]);
  });
});
