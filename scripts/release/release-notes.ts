import type { ReleaseImage } from "../../src/cli/registry/release-facts.ts";
import { imageHost } from "../image/recipes.ts";
import type { Commit } from "./clean-commit.ts";

export interface Noted {
  readonly version: string;
  readonly commit: Commit;
  readonly images: readonly ReleaseImage[];
}

/** The notes of a release: what it is made of, and its part of the changelog. */
export function releaseNotes(changelog: string, { version, commit, images }: Noted): string {
  const rows = images.map(({ name, archive, digest }) => `| \`${imageHost}/${name}@${digest}\` | \`${archive}\` |`);
  return [
    `# Levee ${version}`,
    "",
    `Commit ${commit.id}, ${commit.date.toISOString().slice(0, 10)}. \`sha256sum -c SHA256SUMS\` checks the files, and \`provenance.json\` says what they were made of.`,
    "",
    "| image | archive |",
    "| --- | --- |",
    ...rows,
    "",
    plainLinks(changesOf(changelog, version)),
    "",
  ].join("\n");
}

/** The text below the heading of a version. */
function changesOf(changelog: string, version: string): string {
  const parts = changelog.split(/^## /mu);
  const part = parts.find((each) => each.split(/\s/u, 1)[0] === version);
  const text = part?.slice(part.indexOf("\n") + 1).trim() ?? "";
  if (text === "") throw new Error(`Cannot write the notes: CHANGELOG.md has nothing about ${version}`);
  return text;
}

/** Links into the repository lead nowhere from a release. */
function plainLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\((?!https?:)([^)]+)\)/gu, "$1 (`$2`)");
}
