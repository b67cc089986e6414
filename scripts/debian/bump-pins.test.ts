import { describe, expect, test } from "bun:test";
import { closure } from "./bump-pins.ts";
import { parseStanzas, type Offer } from "./private-apt.ts";

const needs: Readonly<Record<string, readonly string[]>> = { git: ["libc6", "perl", "zlib1g"], perl: ["perl-base"] };

function offers(names: readonly string[]): readonly Offer[] {
  return names
    .filter((name) => name !== "nowhere")
    .map((name) => ({ name, version: "1", sha256: "", needs: needs[name] ?? [] }));
}

function names(set: Parameters<typeof closure>[0]): readonly string[] {
  return closure(set, offers).map(({ name }) => name);
}

describe("closure", () => {
  test("follows needs, but not of packages that are left out", () => {
    expect(names({ wanted: ["git"], withNeeds: true, without: ["perl"] })).toEqual(["git", "libc6", "zlib1g"]);
    expect(names({ wanted: ["git"], withNeeds: false, without: [] })).toEqual(["git"]);
  });

  test("names packages that are not offered", () => {
    expect(() => names({ wanted: ["git", "nowhere"], withNeeds: true, without: [] })).toThrow("Cannot pin nowhere");
  });
});

test("parseStanzas reads name, version, hash and the first of alternative needs", () => {
  const text = `Package: git
Architecture: amd64
Version: 1:2.39.5-0+deb12u2
Depends: libc6 (>= 2.34), libcurl3-gnutls (>= 7.56.1), perl:any, debconf (>= 0.5) | debconf-2.0
Pre-Depends: dpkg (>= 1.17.14)
SHA256: abc

Package: tzdata
Version: 2025b-0+deb12u2
SHA256: def
`;
  expect(parseStanzas(text)).toEqual([
    {
      name: "git",
      version: "1:2.39.5-0+deb12u2",
      sha256: "abc",
      needs: ["dpkg", "libc6", "libcurl3-gnutls", "perl", "debconf"],
    },
    { name: "tzdata", version: "2025b-0+deb12u2", sha256: "def", needs: [] },
  ]);
});
