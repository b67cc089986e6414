import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LineCounter } from "yaml";
import { CommandFailure, usageFailure } from "../failure.ts";
import { documentsOf } from "./image-places.ts";
import { parseImage, registryOf } from "./image-reference.ts";
import { namedImages, replacedNames } from "./named-images.ts";
import { factsFile, readRelease } from "./release-facts.ts";
import { pinsAbove } from "../vendor/vendor-root.ts";

/** An image that a cluster without internet access needs. */
export interface MirrorImage {
  /** As the manifest names it. */
  readonly image: string;
  /** Undefined for an image by tag: nothing pins what a mirror would copy. */
  readonly digest: string | undefined;
  /** Where it is copied from, as skopeo names it. */
  readonly source: string;
  /** Its name below the registry, with a tag. */
  readonly target: string;
  readonly platforms: readonly string[];
  /** The files that name it. */
  readonly files: readonly string[];
}

/** A GitOps repository has some hundred files; more means a wrong folder. */
const filesMax = 2_000;

/** The images of releases and of other manifests, each once. A folder with release.json is a release. */
export async function mirrorImages(paths: readonly string[]): Promise<readonly MirrorImage[]> {
  const found = new Map<string, MirrorImage>();
  for (const path of paths) {
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined)
      throw usageFailure(`Cannot read ${path}: there is no such file or folder`, "give its path");
    const isRelease = facts.isDirectory() && (await stat(join(path, factsFile)).catch(() => undefined)) !== undefined;
    const images = isRelease ? await releaseImages(path) : await manifestImages(path, facts.isDirectory());
    if (images.length === 0)
      throw usageFailure(`Cannot list images: ${path} names none`, "give a release, or files and folders of manifests");
    for (const image of images) {
      const earlier = found.get(image.image);
      const files = [...new Set([...(earlier?.files ?? []), ...image.files])];
      found.set(image.image, { ...image, files });
    }
  }
  const images = [...found.values()];
  refuseSharedNames(images);
  return images;
}

async function releaseImages(folder: string): Promise<readonly MirrorImage[]> {
  const { images, version } = await readRelease(folder);
  return images.map(({ name, digest, archive, platforms }) => ({
    image: `${name}@${digest}`,
    digest,
    source: `oci-archive:${join(folder, archive)}`,
    target: `${name}:${version}`,
    platforms: Object.keys(platforms),
    files: [join(folder, factsFile)],
  }));
}

async function manifestImages(path: string, isFolder: boolean): Promise<readonly MirrorImage[]> {
  const files = isFolder ? await manifestsBelow(path) : [path];
  const pins = await pinsAbove(path);
  const named: { readonly name: string; readonly file: string }[] = [];
  const replaced = new Set<string>();
  for (const file of files) {
    const documents = documentsOf(file, await readFile(file, "utf8"), new LineCounter());
    named.push(...documents.flatMap(namedImages).map((name) => ({ name, file })));
    for (const name of documents.flatMap(replacedNames)) replaced.add(join(dirname(file), name));
  }
  return named
    .filter(({ name, file }) => !replaced.has(join(dirname(file), name)))
    .flatMap(({ name, file }) => asMirrorImage(name, file, pins));
}

async function manifestsBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/u.test(entry.name));
  if (files.length > filesMax)
    throw usageFailure(`Cannot read ${files.length} files: at most ${filesMax} are read`, "name a smaller folder");
  return files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
}

/** A tag counts as pinned if the lock file of `levee vendor` has its digest. */
function asMirrorImage(name: string, file: string, pins: ReadonlyMap<string, string>): readonly MirrorImage[] {
  const found = parseImage(name);
  // A placeholder of a template or of kustomize.
  if (found === undefined) return [];
  const { tag } = found;
  const digest = found.digest ?? pins.get(name);
  const registry = registryOf(found.name);
  refuseNowhere({ name, registry, digest }, file);
  const path = registry === undefined ? found.name : found.name.slice(registry.length + 1);
  // Registries remove images without a tag when they clean up.
  const targetTag = tag ?? digest?.replace(":", "-").slice(0, "sha256-".length + 16) ?? "latest";
  const pinned = digest === undefined ? `${found.name}:${targetTag}` : `${found.name}@${digest}`;
  return [
    { image: name, digest, source: `docker://${pinned}`, target: `${path}:${targetTag}`, platforms: [], files: [file] },
  ];
}

/** The images of a release have this name until a site gives them another one. No registry has them under it. */
const nobodysRegistry = "levee.dev";

interface Named {
  readonly name: string;
  readonly registry: string | undefined;
  readonly digest: string | undefined;
}

/** Refuses an image of ours that can be copied from nowhere. Zeros stand in our own manifests until a release fills them in. */
function refuseNowhere({ name, registry, digest = "" }: Named, file: string): void {
  if (/^sha256:0+$/u.test(digest))
    throw new CommandFailure("no-manifest", `Cannot list ${name} in ${file}: zeros stand where its digest is missing`, {
      remedy: "give the same file of a release, or fill in the image: docs/install.md",
    });
  if (registry !== nobodysRegistry) return;
  throw new CommandFailure("no-manifest", `Cannot list ${name} in ${file}: no registry has it under this name`, {
    remedy:
      "give the folder of the release, whose archives have it; levee manifests writes your registry into the manifests",
  });
}

/** Two registries may have images of one name, and the second copy would take the first one's tag away. */
function refuseSharedNames(images: readonly MirrorImage[]): void {
  const seen = new Map<string, MirrorImage>();
  // An image by tag is refused for itself.
  for (const image of images.filter(({ digest }) => digest !== undefined)) {
    const other = seen.get(image.target) ?? image;
    seen.set(image.target, other);
    if (other.digest === image.digest) continue;
    throw new CommandFailure(
      "mirror-name",
      `Cannot mirror ${other.image} and ${image.image}: both would be ${image.target}`,
      { remedy: "list their files in two runs, each with a --registry that ends in a path of its own" },
    );
  }
}
