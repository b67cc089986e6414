import { join } from "node:path";
import { imageHost } from "../../scripts/image/recipes.ts";
import { imageNamed, readImages } from "../../scripts/release/images.ts";
import { renderRelease } from "../../scripts/release/render-release.ts";
import type { KubeObject } from "../e2e/api.ts";
import { objectsOf } from "../e2e/manifests.ts";
import { busyboxImages, writeImage } from "../e2e/node/image.ts";
import type { PayloadImage } from "./payload.ts";

/** Archives of every image that the node runs: those of the tests' pods, and Levee's own as `npm run image` left it. */
export function nodeImages(folder: string, busybox: string, images: string): readonly PayloadImage[] {
  const { archive } = imageNamed(readImages(join(images, "images.json")), "levee");
  return [
    ...busyboxImages(busybox).map((image, index) => ({ archive: writeImage(join(folder, `image-${index}`), image) })),
    { archive: join(images, archive), namedByDigest: `${imageHost}/levee` },
  ];
}

/** What a site applies: install.yaml of a release with these images. */
export function leveeObjects(folder: string, images: string): readonly KubeObject[] {
  const outDir = join(folder, "release");
  renderRelease({ images: readImages(join(images, "images.json")), outDir });
  return objectsOf(join(outDir, "install.yaml"));
}
