import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { version } from "../../src/base/version.ts";
import { buildShipped, type Programs } from "../build.ts";
import { inputsHash } from "../build/inputs.ts";
import { packageCache, packageFiles } from "../debian/package-cache.ts";
import { readPins, type Architecture, type Pins } from "../debian/pins.ts";
import { shippedSbom } from "../sbom/shipped-sbom.ts";
import { FileTree } from "./file-tree.ts";
import { FreshArchives, madeImages, type BuiltImage, type Images } from "./made-images.ts";
import { archiveOf, digestOf, layerOf, type Layer, type PlatformImage } from "./oci.ts";
import { baseLayer, guardLayer } from "./package-files.ts";
import { imageHost, recipes, sbomPath, type Recipe } from "./recipes.ts";
import { sourceDate } from "./source-date.ts";

const root = resolve(import.meta.dirname, "../..");
/** Everything besides the programs that decides what is in an image. */
const inputs = ["scripts/image", "scripts/debian", "scripts/sbom", "package-lock.json", "src/config/daemon-env.ts"];

export interface ImageOrder {
  readonly architectures: readonly Architecture[];
  readonly outDir: string;
  /** The packages; those of the pins file unless a test has to use others. */
  readonly pins?: Pins;
  /** Images that differ only in their date will do. */
  readonly isAnyDateGood?: boolean;
}

/**
 * Makes the images of this checkout as OCI layouts: DIR/levee.oci.tar, DIR/levee-guard.oci.tar and DIR/images.json. Does
 * nothing when nothing has changed, and leaves the folder as it was when something fails.
 */
export function buildImages({ architectures, outDir, pins = readPins(), isAnyDateGood = false }: ImageOrder): Images {
  const createdAt = sourceDate(root, process.env);
  using archives = new FreshArchives(outDir);
  const programs = new Map(architectures.map((architecture) => [architecture, buildShipped(architecture, pins)]));
  const key = keyOf(programs, pins);
  const known = madeImages(outDir, { key, createdAt: isAnyDateGood ? undefined : createdAt });
  if (known !== undefined) {
    console.log("images: up to date");
    return known;
  }
  const startedMs = performance.now();
  const platforms = [...programs].map(
    ([architecture, paths]) => new Platform(architecture, paths, { pins, createdAt }),
  );
  const images = recipes.map((recipe) => writeImage(recipe, platforms, { archives, createdAt, pins }));
  const built: Images = { version, images };
  archives.finish(built, { key, createdAt });
  console.log(`images: made in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  return built;
}

/** Everything that an image is made of, but its date. */
function keyOf(programs: ReadonlyMap<Architecture, Programs>, pins: Pins): string {
  const hash = createHash("sha256").update(inputsHash(root, inputs, `${Bun.version} ${version} ${pins.text}`));
  for (const [architecture, { levee, shim }] of programs)
    hash.update(`${architecture} ${digestOf(readFileSync(levee))} ${digestOf(readFileSync(shim))}\n`);
  return hash.digest("hex");
}

interface Made {
  readonly pins: Pins;
  readonly createdAt: Date;
}

/** The layers for one architecture. Those that both images have are made once. */
class Platform {
  readonly architecture: Architecture;
  readonly #programs: Programs;
  readonly #made: Made;
  readonly #layers = new Map<string, Layer>();

  constructor(architecture: Architecture, programs: Programs, made: Made) {
    this.architecture = architecture;
    this.#programs = programs;
    this.#made = made;
  }

  imageOf(recipe: Recipe): PlatformImage {
    const packages = recipe.packages.map((set) => this.#layer(`Debian packages: ${set}`, () => this.#packages(set)));
    const programs = recipe.programs.map((name) => this.#layer(name, () => this.#program(name)));
    const sbom = this.#layer(`bill of materials of ${recipe.name}`, () => this.#sbom(recipe));
    return { architecture: this.architecture, layers: [...packages, ...programs, sbom] };
  }

  #layer(about: string, tree: () => FileTree): Layer {
    const made = this.#layers.get(about) ?? layerOf(about, tree().entries, pinnedSeconds(this.#made.pins));
    this.#layers.set(about, made);
    return made;
  }

  #packages(set: Recipe["packages"][number]): FileTree {
    const files = packageFiles(this.#made.pins.of(set, this.architecture), packageCache());
    return set === "base" ? baseLayer(files) : guardLayer(files);
  }

  #program(name: Recipe["programs"][number]): FileTree {
    const tree = new FileTree();
    tree.file(`usr/local/bin/${name}`, readFileSync(this.#pathOf(name)), 0o755);
    return tree;
  }

  /** The bill of materials is part of the image that it describes. */
  #sbom(recipe: Recipe): FileTree {
    const { architecture } = this;
    const packages = recipe.packages.flatMap((set) => this.#made.pins.of(set, architecture));
    const programs = recipe.programs.map((name) => ({ name, content: readFileSync(this.#pathOf(name)) }));
    const image = { name: recipe.name, packages };
    const tree = new FileTree();
    tree.file(sbomPath, shippedSbom({ image, version, architecture, programs, ...this.#made }));
    return tree;
  }

  #pathOf(name: Recipe["programs"][number]): string {
    return name === "levee" ? this.#programs.levee : this.#programs.shim;
  }
}

function writeImage(
  recipe: Recipe,
  platforms: readonly Platform[],
  to: Made & { readonly archives: FreshArchives },
): BuiltImage {
  const archive = `${recipe.name}.oci.tar`;
  const {
    content,
    digest,
    platforms: digests,
  } = archiveOf(
    {
      reference: `${imageHost}/${recipe.name}:${version}`,
      labels: {
        "org.opencontainers.image.title": recipe.name,
        "org.opencontainers.image.description": recipe.description,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": version,
      },
      start: recipe.start,
      createdAt: to.createdAt,
      platforms: platforms.map((platform) => platform.imageOf(recipe)),
    },
    pinnedSeconds(to.pins),
  );
  to.archives.add(archive, content);
  console.log(`${archive}: ${(content.length / 1_048_576).toFixed(1)} MiB, ${digest}`);
  return { name: recipe.name, archive, digest, platforms: digests };
}

/** The time of every file in the layers: it changes with the packages, so that an unchanged layer keeps its digest. */
function pinnedSeconds({ date }: Pins): number {
  return Date.parse(date) / 1_000;
}
