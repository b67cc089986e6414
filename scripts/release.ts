/** Makes a release, see usage(): `npm run release`. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../src/base/version.ts";
import { shippedPrograms } from "./build.ts";
import { runCommandLine } from "./command-line.ts";
import { architectures, readPins } from "./debian/pins.ts";
import { buildImages } from "./image/build-images.ts";
import { cleanCommit } from "./release/clean-commit.ts";
import { ReleaseFolder } from "./release/release-folder.ts";
import { verifyRelease } from "./release/verify-release.ts";
import { writeRelease } from "./release/write-release.ts";

const root = resolve(import.meta.dirname, "..");
/** Nobody serves our files there. krew takes them from the disk as well. */
const nowhere = `https://levee.example/releases/${version}`;

function usage(): string {
  return [
    "Usage: npm run release [-- [--out DIR] [--url URL] [--verify]]",
    "",
    `Makes the release ${version} of the last commit: image archives, manifests and chart with the images' digests, programs`,
    "for amd64 and arm64, krew manifest, bills of materials, provenance, notes and SHA256SUMS (docs/release.md).",
    "Needs a checkout without changes, and what npm run image needs. The folder is there when it is whole, or not at all.",
    "",
    "--out     the folder to write to; a release that is there is replaced (default: dist/release)",
    `--url     where you will serve the files, for the krew manifest (default: ${nowhere})`,
    "--verify  makes the release once more in a new clone of the commit, and compares every byte",
    "",
    "Examples:",
    "  npm run release",
    "  npm run release -- --verify",
    `  npm run release -- --out /tmp/levee-${version} --url https://files.example/levee/${version}`,
  ].join("\n");
}

const options = { out: { type: "string" }, url: { type: "string" }, verify: { type: "boolean" } } as const;

interface Asked {
  readonly outDir: string;
  readonly url: string;
  readonly isVerified: boolean;
}

process.exitCode = runCommandLine(process.argv.slice(2), { usage, read: readArguments, run: makeRelease });

function makeRelease({ outDir, url, isVerified }: Asked): void {
  const startedMs = performance.now();
  const commit = cleanCommit(root, process.env);
  using folder = new ReleaseFolder(outDir);
  console.log(`release: Levee ${version}, commit ${commit.id}`);
  const pins = readPins();
  const imageDir = join(root, "dist/image");
  const images = buildImages({ architectures, outDir: imageDir, pins });
  console.log("release: packing programs, chart and manifests");
  const programs = new Map(architectures.map((each) => [each, shippedPrograms(each, pins)]));
  writeRelease(folder, { commit, url, images, imageDir, programs, pins });
  // Somebody may have worked in the checkout meanwhile.
  const after = cleanCommit(root, process.env);
  if (after.id !== commit.id)
    throw new Error(`Cannot make a release: the checkout moved to ${after.id} meanwhile; run the command again`);
  folder.finish();
  console.log(`release: ${outDir} made in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  if (isVerified) verifyRelease({ root, commit, url, outDir });
}

/** What was asked for, or what is wrong with it. */
function readArguments(args: readonly string[]): Asked | string {
  const { values } = parseArgs({ args: [...args], options, allowPositionals: false });
  const url = values.url ?? nowhere;
  if (values.out === "") return "--out must be a folder: current value is empty";
  if (!/^https:\/\/[^\s/?#]+(?:\/[^\s?#]*[^\s?#/])?$/u.test(url))
    return `--url must be an https:// address without a slash at its end: current value is ${url}`;
  return { outDir: resolve(values.out ?? join(root, "dist/release")), url, isVerified: values.verify === true };
}
