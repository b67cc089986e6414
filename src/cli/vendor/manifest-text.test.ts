import { describe, expect, test } from "bun:test";
import { readManifestBytes } from "./manifest-text.ts";
import { operatorManifest } from "./source-server.fixture.ts";

function read(text: string | Uint8Array): ReturnType<typeof readManifestBytes> {
  return readManifestBytes(typeof text === "string" ? Buffer.from(text) : text, "x.yaml");
}

describe("readManifestBytes", () => {
  test("counts the objects and finds every image", () => {
    expect(read(operatorManifest("v1.0.0"))).toEqual({
      objects: 3,
      images: [
        "registry.example.com/imports/controller:v1.0.0",
        "registry.example.com/imports/operator:v1.0.0",
        `registry.example.com/imports/proxy@sha256:${"a".repeat(64)}`,
      ],
    });
    expect(read("---\n# nothing\n---\napiVersion: v1\nkind: A\n---\n")).toEqual({ objects: 1, images: [] });
  });

  test.each([
    ["<!DOCTYPE html>\n<html></html>\n", "it is an HTML or XML page"],
    ["\n  <html>", "it is an HTML or XML page"],
    ["<?xml version='1.0'?>", "it is an HTML or XML page"],
    ["", "it has no objects"],
    ["# only a comment\n---\n", "it has no objects"],
    ["Not Found\n", "document 1 has no apiVersion and kind"],
    ["apiVersion: v1\nkind: A\n---\n- a\n", "document 2 has no apiVersion and kind"],
    ["apiVersion: v1\nkind: A\nmetadata: {name: [\n", "document 1 is not YAML"],
    ["apiVersion: v1\nkind: A\nkind: B\n", "document 1 is not YAML: Map keys must be unique"],
    ["apiVersion: v1\nkind: A\nx: \u0007\n", "it has control characters"],
    ["\ufeffapiVersion: v1\nkind: A\n", "it begins with a byte order mark"],
    [new Uint8Array([0x1f, 0x8b, 0x08]), "it is not UTF-8 text"],
    [new Uint8Array([0x61, 0xff, 0xfe]), "it is not UTF-8 text"],
    [bomb(), "document 1 cannot be read: Excessive alias count"],
  ])("refuses %#", (text, why) => {
    expect(() => read(text)).toThrow(why);
  });
});

/** Aliases of aliases: a few lines that would be millions of values. */
function bomb(): string {
  const rows = Array.from({ length: 8 }, (_, row) => {
    const inner = row === 0 ? "x" : `*a${row - 1}`;
    return `a${row}: &a${row} [${Array.from({ length: 9 }, () => inner).join(", ")}]`;
  });
  return `apiVersion: v1\nkind: A\n${rows.join("\n")}\n`;
}
