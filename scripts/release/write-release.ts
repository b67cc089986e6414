import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { factsFile } from "../../src/cli/registry/release-facts.ts";
import type { Programs } from "../build.ts";
import { hostArchitecture } from "../build/levee-program.ts";
import type { Architecture, Pins } from "../debian/pins.ts";
import type { Images } from "../image/made-images.ts";
import { imageHost } from "../image/recipes.ts";
import { shippedSbom } from "../sbom/shipped-sbom.ts";
import { chartArchive } from "./chart-archive.ts";
import type { Commit } from "./clean-commit.ts";
import { krewManifest, type ProgramArchive } from "./krew-manifest.ts";
import { programArchive } from "./program-archive.ts";
import { provenance } from "./provenance.ts";
import type { ReleaseFolder } from "./release-folder.ts";
import { releaseNotes } from "./release-notes.ts";
import { imageSboms } from "./release-sboms.ts";
import { releaseManifests } from "./render-release.ts";

const root = resolve(import.meta.dirname, "../..");
const sums = "SHA256SUMS";

/** Everything that a release is made of. */
export interface Parts {
  readonly commit: Commit;
  /** Where the files will be served from, for krew. */
  readonly url: string;
  readonly images: Images;
  /** The folder with the archives of the images. */
  readonly imageDir: string;
  readonly programs: ReadonlyMap<Architecture, Programs>;
  readonly pins: Pins;
}

/** Writes the files of a release. They depend on nothing but the parts. */
export function writeRelease(folder: ReleaseFolder, parts: Parts): void {
  const { commit, url, images: built, pins } = parts;
  const { version, images } = built;
  for (const { archive } of images) folder.add(archive, readFileSync(join(parts.imageDir, archive)));
  for (const [path, content] of imageSboms(images, parts.imageDir)) folder.add(path, content);
  const manifests = releaseManifests({ images, head: `Levee ${version}, commit ${commit.id}` });
  for (const [path, text] of manifests) folder.add(path, text);
  folder.add(`levee-${version}.tgz`, chartArchive(images, commit.date));
  folder.add("krew/levee.yaml", krewManifest(version, url, writePrograms(folder, parts)));
  folder.add("RELEASE_NOTES.md", releaseNotes(read("CHANGELOG.md"), { version, commit, images }));
  folder.add(factsFile, json({ version, commit: commit.id, images, manifests: [...manifests.keys()] }));
  const subjects = new Map([
    ...folder.hashes,
    ...images.map(({ name, digest }): [string, string] => [
      `${imageHost}/${name}:${version}`,
      digest.slice("sha256:".length),
    ]),
  ]);
  const lock = JSON.parse(read("package-lock.json")) as unknown;
  folder.add("provenance.json", json(provenance({ commit, url, subjects, pins, lock, host: hostArchitecture })));
  folder.add(sums, [...folder.hashes].map(([path, sha256]) => `${sha256}  ${path}\n`).join(""));
}

/** The programs of each architecture as one archive with its bill of materials. */
function writePrograms(folder: ReleaseFolder, { commit, images, programs, pins }: Parts): readonly ProgramArchive[] {
  return [...programs].map(([architecture, paths]) => {
    const name = `levee-${images.version}-linux-${architecture}`;
    const sha256 = folder.add(`${name}.tar.gz`, programArchive(paths, commit.date));
    const content = [
      { name: "levee", content: readFileSync(paths.levee) },
      { name: "levee-shim", content: readFileSync(paths.shim) },
    ];
    const about = { version: images.version, architecture, createdAt: commit.date, pins };
    folder.add(`sbom/${name}.spdx.json`, shippedSbom({ ...about, programs: content }));
    return { architecture, file: `${name}.tar.gz`, sha256 };
  });
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
