import { expect, test } from "bun:test";
import { releaseNotes } from "./release-notes.ts";
import { someImages } from "./some-images.fixture.ts";

const changelog = `# Changelog

## 1.2.3 (unreleased)

The third.

- One ([how](docs/scale.md)), as [the format](https://in-toto.io/x) says.

## 1.2

- Older.
`;
const about = { version: "1.2.3", commit: { id: "c".repeat(40), date: new Date("2026-01-02") }, images: someImages };

test("releaseNotes have the part of their version, the commit and the images", () => {
  const notes = releaseNotes(changelog, about);
  expect(notes).toStartWith(`# Levee 1.2.3\n\nCommit ${"c".repeat(40)}, 2026-01-02.`);
  expect(notes).toContain(`| \`levee.dev/levee@${someImages[0].digest}\` | \`levee.oci.tar\` |`);
  expect(notes).toEndWith("The third.\n\n- One (how (`docs/scale.md`)), as [the format](https://in-toto.io/x) says.\n");
  expect(releaseNotes(changelog, { ...about, version: "1.2" })).toEndWith("\n- Older.\n");
});

test.each(["1.2.4", "1", "Changelog"])(
  "releaseNotes refuses version %s, of which the changelog has nothing",
  (version) => {
    expect(() => releaseNotes(changelog, { ...about, version })).toThrow(`CHANGELOG.md has nothing about ${version}`);
  },
);
