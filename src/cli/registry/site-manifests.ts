import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandFailure } from "../failure.ts";
import { imagePlaces, type ImagePlace } from "./image-places.ts";
import { parseImage } from "./image-reference.ts";
import type { ReleaseFacts, ReleaseImage } from "./release-facts.ts";

/** A manifest for one site. */
export interface SiteFile {
  /** Relative to the folder that it is written into. */
  readonly path: string;
  readonly text: string;
  /** How many images it names. */
  readonly images: number;
}

/** The chart's values for the same registry, beside the manifests. */
export const valuesFile = "helm-values.yaml";

/** The manifests of a release with another registry. Nothing else in them changes, and everything is read before the first is written. */
export async function siteManifests(
  folder: string,
  release: ReleaseFacts,
  registry: string,
): Promise<readonly SiteFile[]> {
  const files: SiteFile[] = [];
  for (const path of release.manifests) {
    const file = join(folder, path);
    const source = await readFile(file, "utf8").catch((cause: unknown) => {
      throw new CommandFailure("no-release", `Cannot read ${file}, which ${release.version} has`, {
        remedy: "unpack the release again; sha256sum -c SHA256SUMS names missing files",
        cause,
      });
    });
    files.push({ path, ...withRegistry({ file, source, images: release.images, registry }) });
  }
  return [...files, { path: valuesFile, text: helmValues(release, registry), images: release.images.length }];
}

interface Rewriting {
  readonly file: string;
  readonly source: string;
  readonly images: readonly ReleaseImage[];
  readonly registry: string;
}

/** One manifest with another registry in front of each image of the release. */
function withRegistry({ file, source, images, registry }: Rewriting): Omit<SiteFile, "path"> {
  const places = imagePlaces(file, source);
  let text = "";
  let at = 0;
  for (const place of places) {
    const image = imageAt(place, { file, images });
    const digest = place.digest === undefined ? `@${image.digest}` : "";
    text += `${source.slice(at, place.start)}${registry}/${image.name}${digest}`;
    at = place.end;
  }
  text += source.slice(at);
  refuseUnseen(file, text, places.length);
  return { text, images: places.length };
}

/** The image of the release at a place. An image of others, or one by tag, is not ours to move. */
function imageAt(
  place: ImagePlace,
  { file, images }: { readonly file: string; readonly images: readonly ReleaseImage[] },
): ReleaseImage {
  const found = parseImage(place.text);
  const digest = place.digest ?? found?.digest;
  const name = found?.name.slice(found.name.lastIndexOf("/") + 1);
  const image = images.find((each) => each.digest === digest && each.name === name);
  if (image !== undefined) return image;
  const known = images.map((each) => `${each.name}@${each.digest}`).join(" or ");
  throw new CommandFailure(
    "no-manifest",
    `Cannot rewrite ${file}:${place.line}: ${place.text} is no image of this release`,
    {
      remedy: `use the files of the release as they are; it has ${known}`,
    },
  );
}

/** A digest in a place that we do not know, such as an argument, must not be left with the old registry in silence. */
function refuseUnseen(file: string, text: string, seen: number): void {
  const digests = text.split("\n").flatMap((line, index) => (/[\w/]@sha256:[0-9a-f]/u.test(line) ? [index + 1] : []));
  if (digests.length <= seen) return;
  throw new CommandFailure(
    "no-manifest",
    `Cannot rewrite ${file}: an image is named outside of a container, see lines ${digests.join(", ")}`,
    { remedy: "use the files of the release as they are" },
  );
}

function helmValues(release: ReleaseFacts, registry: string): string {
  const [image, guard] = ["levee", "levee-guard"].map((name) => release.images.find((each) => each.name === name));
  const lines = [
    `# Levee ${release.version} from ${registry}: helm install levee levee-${release.version}.tgz -f ${valuesFile}`,
    ...(image === undefined ? [] : ["image:", `  repository: ${registry}/${image.name}`, `  digest: ${image.digest}`]),
    ...(guard === undefined
      ? []
      : ["guard:", "  image:", `    repository: ${registry}/${guard.name}`, `    digest: ${guard.digest}`]),
  ];
  return `${lines.join("\n")}\n`;
}
