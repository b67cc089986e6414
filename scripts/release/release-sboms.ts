import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReleaseImage } from "../../src/cli/registry/release-facts.ts";
import { readTar, type Entries } from "../debian/tar.ts";
import { sbomPath } from "../image/recipes.ts";

interface Descriptor {
  readonly digest: string;
}

/** The bills of materials of the images, by file name: those that are in the images themselves. */
export function imageSboms(images: readonly ReleaseImage[], folder: string): ReadonlyMap<string, Uint8Array> {
  return new Map(
    images.flatMap(({ name, archive, platforms }) => {
      const files = readTar(readFileSync(join(folder, archive)));
      return Object.entries(platforms).map(([platform, digest]): [string, Uint8Array] => [
        `sbom/${name}-image-${platform.replace("/", "-")}.spdx.json`,
        sbomIn(files, digest, archive),
      ]);
    }),
  );
}

/** It is in the last layer of a platform's image. */
function sbomIn(files: Entries, manifest: string, archive: string): Uint8Array {
  const { layers } = JSON.parse(Buffer.from(blob(files, manifest)).toString("utf8")) as {
    layers: readonly Descriptor[];
  }; // as scripts/image writes it
  const layer = Bun.gunzipSync(new Uint8Array(blob(files, layers.at(-1)?.digest ?? "")));
  const found = readTar(layer).get(sbomPath);
  if (found === undefined) throw new Error(`Cannot make a release: ${archive} has no bill of materials, ${sbomPath}`);
  return found.content;
}

function blob(files: Entries, digest: string): Uint8Array {
  return files.get(`blobs/${digest.replace(":", "/")}`)?.content ?? new Uint8Array();
}
