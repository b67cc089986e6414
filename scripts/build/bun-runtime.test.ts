import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { writeTar, type Entry } from "../debian/tar.ts";
import { unpacked } from "./bun-runtime.ts";

function npmPackage(path: string): { archive: Buffer; integrity: string } {
  const file: Entry = { kind: "file", mode: 0o755, content: Buffer.from("bun"), target: "" };
  const archive = Buffer.from(Bun.gzipSync(writeTar(new Map([[path, file]]), 0)));
  return { archive, integrity: `sha512-${createHash("sha512").update(archive).digest("base64")}` };
}

test("unpacked takes the program out of a package with the pinned hash", () => {
  const { archive, integrity } = npmPackage("package/bin/bun");
  expect(Buffer.from(unpacked(archive, { name: "x", integrity })).toString()).toBe("bun");
});

test("unpacked refuses another hash and a package without the program", () => {
  const { archive, integrity } = npmPackage("package/bun");
  expect(() => unpacked(archive, { name: "x", integrity: "sha512-abc" })).toThrow("Cannot use x: its hash is sha512-");
  expect(() => unpacked(archive, { name: "x", integrity })).toThrow("Cannot use x: it has no package/bin/bun");
});
