import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { architectures, readPins } from "../debian/pins.ts";
import type { BuiltImage } from "../image/made-images.ts";
import { FileTree } from "../image/file-tree.ts";
import { archiveOf, layerOf } from "../image/oci.ts";
import { imageHost, sbomPath } from "../image/recipes.ts";
import { version } from "../../src/base/version.ts";
import type { Parts } from "./write-release.ts";

const date = new Date("2026-01-02T03:04:05Z");

/** The parts of a release with tiny programs, and with images of one file. They are written below the folder. */
export function someParts(folder: string): Parts {
  const programs = architectures.map((architecture) => {
    const own = join(folder, architecture);
    mkdirSync(own, { recursive: true });
    const paths = { levee: join(own, "levee"), shim: join(own, "levee-shim") };
    for (const path of Object.values(paths)) writeFileSync(path, `#!/bin/sh\necho ${architecture} "$@"\n`);
    return [architecture, paths] as const;
  });
  return {
    commit: { id: "c".repeat(40), date },
    url: "https://files.example/levee",
    images: { version, images: [someImage(folder, "levee"), someImage(folder, "levee-guard")] },
    imageDir: folder,
    programs: new Map(programs),
    pins: readPins(),
  };
}

function someImage(folder: string, name: BuiltImage["name"]): BuiltImage {
  const archive = `${name}.oci.tar`;
  const { content, digest, platforms } = archiveOf(
    {
      reference: `${imageHost}/${name}:${version}`,
      labels: {},
      start: { entrypoint: ["/levee"], env: [], user: "0:0" },
      createdAt: date,
      platforms: architectures.map((architecture) => {
        const tree = new FileTree();
        tree.file(sbomPath, `{"name":"${name} for ${architecture}"}\n`);
        return { architecture, layers: [layerOf("bill of materials", tree.entries, 5)] };
      }),
    },
    5,
  );
  writeFileSync(join(folder, archive), content);
  return { name, archive, digest, platforms };
}
