import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BuiltImage, Images } from "../../../scripts/image/made-images.ts";
import { releaseManifests } from "../../../scripts/release/render-release.ts";
import { ctr } from "../node/containerd.ts";

const dist = resolve(import.meta.dir, "../../../dist");

/** A build of Levee as a site has it: the archives of its images, and the manifests of its release. */
export class BuildOfLevee {
  static #current: BuildOfLevee | undefined;
  readonly version: string;
  readonly #folder: string;
  readonly #images: readonly BuiltImage[];
  readonly #manifests: ReadonlyMap<string, string>;

  private constructor(folder: string) {
    const { version, images } = JSON.parse(readFileSync(join(folder, "images.json"), "utf8")) as Images; // as buildImages writes it
    this.version = version;
    this.#folder = folder;
    this.#images = images;
    this.#manifests = releaseManifests({ images });
  }

  /** The build of this checkout. */
  static current(): BuildOfLevee {
    return (BuildOfLevee.#current ??= new BuildOfLevee(join(dist, "image")));
  }

  /** The same sources with a higher version (scripts/e2e/next-image.ts). */
  static next(): BuildOfLevee {
    return new BuildOfLevee(join(dist, "image-next"));
  }

  /** The name of an image in the manifests. */
  nameOf(name: BuiltImage["name"]): string {
    return `levee.dev/${name}@${this.#image(name).digest}`;
  }

  /** Gives an image to the node's runtime, with the command of docs/install.md. Nothing can be pulled in here. */
  load(name: BuiltImage["name"]): void {
    const archive = join(this.#folder, this.#image(name).archive);
    ctr("images", "import", "--base-name", `levee.dev/${name}`, "--digests", archive);
  }

  /** The text of a file of the release. */
  manifest(file: string): string {
    const text = this.#manifests.get(file);
    if (text === undefined)
      throw new Error(`A release has no ${file}: it has ${[...this.#manifests.keys()].join(", ")}`);
    return text;
  }

  #image(name: BuiltImage["name"]): BuiltImage {
    const found = this.#images.find((image) => image.name === name);
    if (found === undefined) throw new Error(`${this.#folder} has no image ${name}`);
    return found;
  }
}
