import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { registryProblem } from "../registry/image-reference.ts";
import { mirrorImages, type MirrorImage } from "../registry/mirror-images.ts";
import { mirrorScript } from "../registry/mirror-script.ts";
import { readRelease, type ReleaseFacts } from "../registry/release-facts.ts";
import { siteManifests, valuesFile, type SiteFile } from "../registry/site-manifests.ts";
import { writeTogether } from "../registry/write-together.ts";
import { plural } from "../terminal/plural.ts";
import { outputFormats, print } from "../terminal/print.ts";
import type { Shell } from "../shell.ts";

interface ManifestsOptions {
  readonly registry?: string;
  readonly to?: string;
}

const example = "levee manifests levee-0.1.0 --registry registry.example.com/site --to apps/levee";
const listExample = "levee mirror-list levee-0.1.0 --registry registry.example.com/site";

export function addManifests(program: Command, shell: Shell): void {
  const command = program
    .command("manifests")
    .description("Write a release's manifests with your own registry in front of each image")
    .argument("<release>", "the folder of the release")
    .option("--registry <name>", "required: your registry, with a path if it needs one")
    .option("--to <folder>", "required: where the files are written; the release itself stays as it is")
    .addHelpText(
      "after",
      [
        "\nOnly the registry changes. Digests stay, so a node runs the image of the release or none.",
        `${valuesFile} in the same folder has the values for the chart.`,
        "Existing files of the same names are replaced, so a second run changes nothing.",
        examples(example, "levee manifests . --registry registry.example.com:5000 --to ../site"),
      ].join("\n"),
    );
  command.action(async (folder: string, options: ManifestsOptions) => {
    const { settings } = contextOf(command, shell);
    const { registry, to } = await checked(folder, options);
    const release = await readRelease(folder);
    const files = await siteManifests(folder, release, registry);
    await writeTogether(to, files);
    print(shell.stdout, settings.output, {
      value: {
        version: release.version,
        registry,
        folder: to,
        files: files.map(({ path, images }) => ({ path, images })),
      },
      text: () => writtenText(to, { files, release, registry }),
    });
  });
}

async function checked(
  folder: string,
  { registry, to }: ManifestsOptions,
): Promise<{ readonly registry: string; readonly to: string }> {
  if (registry === undefined) throw usageFailure("Required option '--registry <name>' not specified", example);
  if (to === undefined) throw usageFailure("Required option '--to <folder>' not specified", example);
  requireRegistry(registry, example);
  const path = relative(await realPath(folder), await realPath(to));
  if (path.split("/", 1)[0] !== "..")
    throw usageFailure("Cannot write into the release itself: its checksums would no longer cover it", example);
  return { registry, to };
}

/** A folder that is not there yet has the path of the nearest one above it, and its own name. */
async function realPath(path: string): Promise<string> {
  const above = dirname(path);
  return realpath(path).catch(async () => (above === path ? path : join(await realPath(above), basename(path))));
}

interface Written {
  readonly files: readonly SiteFile[];
  readonly release: ReleaseFacts;
  readonly registry: string;
}

function writtenText(to: string, { files, release, registry }: Written): string {
  const images = release.images.map(({ name, digest }) => `  ${registry}/${name}@${digest}\n`).join("");
  return `${plural(files.length, "file")} of Levee ${release.version} in ${to} name:\n${images}`;
}

export function addMirrorList(program: Command, shell: Shell): void {
  const command = program
    .command("mirror-list")
    .description("List every image that a release or your manifests need, with the skopeo lines that copy them")
    .argument("<paths...>", "the folder of a release; files and folders of other manifests")
    .option("--registry <name>", "your registry, with a path if it needs one, such as registry.example.com/site")
    .addHelpText(
      "after",
      [
        "\nThe output is a shell script: images are comments, and one skopeo line copies each of them with all platforms",
        "and without a change of its digest. -o name prints the images alone.",
        "Exit status 1 if an image is named by a tag only, because nothing pins what would be copied.",
        examples(
          `${listExample} | sh`,
          "levee mirror-list levee-0.1.0 apps/cdi --registry gitea.example.com/infra > mirror.sh",
          "levee mirror-list apps/cdi -o name",
        ),
      ].join("\n"),
    );
  command.action(async (paths: readonly string[], options: { readonly registry?: string }) => {
    const { settings } = contextOf(command, shell, [...outputFormats, "name"]);
    if (options.registry !== undefined) requireRegistry(options.registry, listExample);
    const images = await mirrorImages(paths);
    const pinned = images.filter(({ digest }) => digest !== undefined);
    print(shell.stdout, settings.output, {
      value: { images },
      text: () => mirrorScript(images, options.registry),
      name: () => pinned.map(({ image, digest }) => `${image.includes("@") ? image : `${image}@${digest}`}\n`).join(""),
    });
    refuseTags(images.filter(({ digest }) => digest === undefined));
  });
}

function refuseTags(tagged: readonly MirrorImage[]): void {
  const [first] = tagged;
  if (first === undefined) return;
  const names = tagged.map(({ image, files }) => `${image} in ${files.join(", ")}`);
  throw new CommandFailure(
    "image-by-tag",
    `Cannot list ${tagged.length} of the images: they are named by a tag, which can move`,
    {
      remedy: `skopeo inspect --format '{{.Digest}}' ${first.source} prints the digest: write it into the manifest, or for a vendored file levee vendor pin ${first.image} DIGEST`,
      details: names.join("\n"),
    },
  );
}

function requireRegistry(registry: string, remedy: string): void {
  const problem = registryProblem(registry);
  if (problem !== undefined)
    throw usageFailure(`Cannot use the registry ${JSON.stringify(registry)}: ${problem}`, remedy);
}
