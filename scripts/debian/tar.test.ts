import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readTar, writeTar, type Entry } from "./tar.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-tar-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(text: string, mode = 0o644): Entry {
  return { kind: "file", mode, content: Buffer.from(text), target: "" };
}

const folderEntry: Entry = { kind: "folder", mode: 0o755, content: new Uint8Array(), target: "" };
const link: Entry = { kind: "symlink", mode: 0o777, content: new Uint8Array(), target: "a" };

describe("writeTar", () => {
  test("depends on the entries and the time, not on their order", () => {
    const one = new Map([
      ["b", file("b")],
      ["a", folderEntry],
      ["a/x", file("x")],
    ] as const);
    const other = new Map([...one].toReversed());
    expect(writeTar(one, 7).equals(writeTar(other, 7))).toBe(true);
    expect(writeTar(one, 7).equals(writeTar(one, 8))).toBe(false);
  });

  test("writes what the machine's tar reads: kind, mode, owner, time and content", () => {
    const deep = `${"d".repeat(90)}/${"e".repeat(60)}/f`;
    const archive = join(folder, "x.tar");
    writeFileSync(
      archive,
      writeTar(
        new Map([
          ["a", file("hello", 0o755)],
          ["l", link],
          ["t", folderEntry],
          [deep, file("")],
        ]),
        0,
      ),
    );
    const listed = spawnSync("tar", ["--numeric-owner", "--utc", "-tvf", archive], { encoding: "utf8" }).stdout;
    expect(listed).toContain("-rwxr-xr-x 0/0               5 1970-01-01 00:00 a");
    expect(listed).toContain("l -> a");
    expect(listed).toContain("drwxr-xr-x 0/0               0 1970-01-01 00:00 t/");
    expect(listed).toContain(deep);
    expect(spawnSync("tar", ["-xOf", archive, "a"], { encoding: "utf8" }).stdout).toBe("hello");
  });

  test("refuses a path and a target that the format cannot hold", () => {
    expect(() => writeTar(new Map([["x".repeat(300), file("")]]), 0)).toThrow("is too long");
    expect(() => writeTar(new Map([["l", { ...link, target: "t".repeat(101) }]]), 0)).toThrow("longer than 100 bytes");
  });
});

describe("readTar", () => {
  test("reads what it wrote", () => {
    const entries = new Map([
      ["a", folderEntry],
      ["a/b", file("content", 0o600)],
      ["c", link],
    ] as const);
    expect(readTar(writeTar(entries, 1))).toEqual(entries);
  });

  test.each(["gnu", "pax", "ustar"])("reads archives of the machine's tar in the format %s", (format) => {
    const long = "n".repeat(format === "ustar" ? 80 : 120);
    mkdirSync(join(folder, "in", long), { recursive: true });
    writeFileSync(join(folder, "in", long, "file"), "text");
    symlinkSync(format === "ustar" ? "x" : "y".repeat(130), join(folder, "in/link"));
    const archive = join(folder, "x.tar");
    expect(spawnSync("tar", [`--format=${format}`, "-C", join(folder, "in"), "-cf", archive, "."]).status).toBe(0);
    const entries = readTar(readFileSync(archive));
    expect([...entries.keys()].toSorted()).toEqual(["link", long, `${long}/file`].toSorted());
    expect(Buffer.from(entries.get(`${long}/file`)?.content ?? []).toString()).toBe("text");
    expect(entries.get("link")?.target).toBe(format === "ustar" ? "x" : "y".repeat(130));
  });

  test("refuses an archive that was cut off, and devices", () => {
    const whole = writeTar(new Map([["a", file("x".repeat(2_000))]]), 0);
    expect(() => readTar(whole.subarray(0, 1_500))).toThrow("ends in the middle");
    const device = Buffer.from(whole);
    device.write("3", 156);
    expect(() => readTar(device)).toThrow("a is of an unknown kind (3)");
  });
});
