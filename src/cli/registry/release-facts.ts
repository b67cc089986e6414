import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { CommandFailure } from "../failure.ts";

/** One image of a release. */
export interface ReleaseImage {
  readonly name: string;
  /** The OCI archive beside the manifests. */
  readonly archive: string;
  /** Of the index, which covers all platforms. */
  readonly digest: string;
  readonly platforms: Readonly<Record<string, string>>;
}

/** The part of release.json that the commands use. */
export interface ReleaseFacts {
  readonly version: string;
  readonly commit: string;
  readonly images: readonly ReleaseImage[];
  /** Its manifests, relative to the release. Most of them name images. */
  readonly manifests: readonly string[];
}

export const factsFile = "release.json";

/** Reads release.json of a release's folder. */
export async function readRelease(folder: string): Promise<ReleaseFacts> {
  const file = join(folder, factsFile);
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CommandFailure("no-release", `Cannot read ${file}: ${errnoOf(cause) ?? String(cause)}`, {
      remedy: "give the folder of a release, the one with release.json and install.yaml",
      cause,
    });
  });
  try {
    return parseFacts(JSON.parse(text) as unknown, file);
  } catch (cause) {
    throw new CommandFailure("no-release", `Cannot use ${file}: ${cause instanceof Error ? cause.message : ""}`, {
      remedy: "unpack the release again; sha256sum -c SHA256SUMS names damaged files",
      cause,
    });
  }
}

/** The images of images.json or release.json. Throws with the place of the first problem. */
export function parseImages(value: unknown, file: string): readonly ReleaseImage[] {
  const { images } = object(value, file);
  if (!Array.isArray(images) || images.length === 0) throw new Error(`${file}: images must be a list with an entry`);
  return images.map((image, index) => parseOne(image, `${file}: images[${index}]`));
}

function parseFacts(value: unknown, file: string): ReleaseFacts {
  const { version, commit, manifests } = object(value, file);
  if (!Array.isArray(manifests)) throw new Error(`${file}: manifests must be a list`);
  return {
    version: text(version, /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/u, `${file}: version`),
    commit: text(commit, /^[0-9a-f]{40,64}$/u, `${file}: commit`),
    images: parseImages(value, file),
    // The paths are opened below the release, and written below the target.
    manifests: manifests.map((path, index) => text(path, inside, `${file}: manifests[${index}]`)),
  };
}

/** A path that stays in its folder. */
const inside = /^(?!\.)[\w.-]+(?:\/(?!\.)[\w.-]+)*$/u;
const digest = /^sha256:(?!0{64})[0-9a-f]{64}$/u;

function parseOne(value: unknown, where: string): ReleaseImage {
  const image = object(value, where);
  const platforms = Object.entries(object(image["platforms"], `${where}.platforms`));
  return {
    name: text(image["name"], /^[a-z][a-z0-9-]*$/u, `${where}.name`),
    archive: text(image["archive"], inside, `${where}.archive`),
    digest: text(image["digest"], digest, `${where}.digest`),
    platforms: Object.fromEntries(
      platforms.map(([name, value_]) => [name, text(value_, digest, `${where}.platforms.${name}`)]),
    ),
  };
}

function object(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`${where} must be an object: current value is ${JSON.stringify(value)}`);
}

function text(value: unknown, pattern: RegExp, where: string): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw new Error(`${where} must match ${pattern.source}: current value is ${JSON.stringify(value)}`);
}
