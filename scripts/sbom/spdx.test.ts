import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spdxDocument, type SpdxPackage } from "./spdx.ts";

const lock: unknown = JSON.parse(readFileSync(join(import.meta.dir, "../../package-lock.json"), "utf8"));
const input = {
  version: "1.2.3",
  lock,
  rust: "1.63.0",
  createdAt: new Date(0),
  programs: [
    { name: "levee", sha256: "a".repeat(64) },
    { name: "levee-shim", sha256: "b".repeat(64) },
  ],
};

test("spdxDocument names what is inside the programs, each once, and what they were built with", () => {
  const document = spdxDocument(input);
  const packages = document["packages"] as readonly SpdxPackage[]; // as it was just made
  const relationships = document["relationships"] as readonly Record<string, string>[]; // likewise
  const inside = relationships.filter((each) => ["CONTAINS", "STATIC_LINK"].includes(each["relationshipType"] ?? ""));
  const names = inside.map((each) => packages.find(({ SPDXID }) => SPDXID === each["relatedSpdxElement"])?.name);
  expect(names.toSorted()).toEqual([
    "@preact/signals",
    "@preact/signals-core",
    "bun",
    "commander",
    "preact",
    "rust-std",
    "uplot",
    "yaml",
  ]);
  expect(new Set(packages.map(({ SPDXID }) => SPDXID)).size).toBe(packages.length);
  for (const { SPDXID, name, checksums } of packages) {
    expect(SPDXID).toMatch(/^SPDXRef-[A-Za-z0-9.-]+$/u);
    if (name === "yaml") expect(checksums?.[0]?.checksumValue).toMatch(/^[0-9a-f]{128}$/u);
  }
  expect(JSON.stringify(document)).toBe(JSON.stringify(spdxDocument(input)));
});

test("spdxDocument of an image describes the image, which contains its programs and packages", () => {
  const libc = { name: "libc6", version: "2.36-9+deb12u10", architecture: "arm64", sha256: "c".repeat(64) };
  const [levee] = input.programs;
  const document = spdxDocument({
    ...input,
    programs: levee === undefined ? [] : [levee],
    image: { name: "levee-guard", packages: [libc] },
    linked: [libc],
  });
  const packages = document["packages"] as readonly SpdxPackage[]; // as it was just made
  const relationships = document["relationships"] as readonly Record<string, string>[]; // likewise
  const nameOf = (id: string | undefined): string | undefined => packages.find(({ SPDXID }) => SPDXID === id)?.name;
  const ends = (kind: string, from: string): readonly (string | undefined)[] =>
    relationships
      .filter((each) => each["relationshipType"] === kind && nameOf(each["spdxElementId"]) === from)
      .map((each) => nameOf(each["relatedSpdxElement"]));
  expect(ends("CONTAINS", "levee-guard-image")).toEqual(["levee", "libc6"]);
  expect(relationships.filter((each) => each["relationshipType"] === "DESCRIBES")).toHaveLength(1);
  // The shim is not in this image, so nothing is linked into it.
  expect(packages.filter(({ name }) => ["rust-std", "levee-shim"].includes(name))).toEqual([]);
  const found = packages.find(({ name }) => name === "libc6");
  expect(found?.SPDXID).toMatch(/^SPDXRef-[A-Za-z0-9.-]+$/u);
  expect(JSON.stringify(found)).toContain("pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=arm64&distro=debian-12");
});
