import { join } from "node:path";
import type { KubeObject } from "../e2e/api.ts";
import { manifest } from "../e2e/manifests.ts";
import { busyboxImages, writeImage } from "../e2e/node/image.ts";
import { leveeProgram, shimProgram } from "../e2e/node/levee-node.ts";
import { run } from "../e2e/run.ts";
import type { PayloadImage } from "./payload.ts";

const leveeTag = "levee.test/levee:1";

/** Archives of every image that the node runs. */
export function nodeImages(folder: string, busybox: string): readonly PayloadImage[] {
  const images = [...busyboxImages(busybox), leveeImage()];
  return images.map((image, index) => ({
    name: image.tag,
    archive: writeImage(join(folder, `image-${index}`), image),
  }));
}

function leveeImage(): Parameters<typeof writeImage>[1] {
  const libraries = [...run("ldd", leveeProgram).matchAll(/(\/\S+) \(0x/gu)].map(([, path]) => path ?? "");
  const files = {
    "/usr/local/bin/levee": leveeProgram,
    "/usr/local/bin/levee-shim": shimProgram,
    ...Object.fromEntries(libraries.map((path) => [path, path])),
  };
  return { tag: leveeTag, files, command: ["/usr/local/bin/levee"] };
}

/** The shipped manifest, with the image of this run in the place of its digest. */
export function leveeObjects(): readonly KubeObject[] {
  const text = JSON.stringify(manifest("install.yaml"));
  return JSON.parse(text.replaceAll(/"levee@sha256:0+"/gu, JSON.stringify(leveeTag))) as readonly KubeObject[]; // ours
}
