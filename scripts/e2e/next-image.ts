import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { version } from "../../src/base/version.ts";
import { compileLevee, hostArchitecture, programSources } from "../build/levee-program.ts";
import { readTar, type Entries } from "../debian/tar.ts";
import type { Images } from "../image/made-images.ts";
import { FileTree } from "../image/file-tree.ts";
import { archiveOf, layerOf, type Archive, type Layer } from "../image/oci.ts";
import { imageHost, recipes } from "../image/recipes.ts";

const root = resolve(import.meta.dirname, "../..");
const outDir = join(root, "dist/image-next");
const archive = "levee.oci.tar";
const nextVersion = `${version}-next`;

/**
 * The image to update to in tests: the daemon's image of this checkout with the program built once more, with a higher
 * version. Only for this machine's architecture. Does nothing when it is there.
 */
export function makeNextImage(current: Images): void {
  const made = join(outDir, "made-from");
  const from = current.images.map(({ digest }) => digest).join(" ");
  if (existsSync(made) && readFileSync(made, "utf8") === from) return;
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const { content, digest, platforms } = withProgram(programLayer());
  const images: Images = { version: nextVersion, images: [{ name: "levee", archive, digest, platforms }] };
  writeFileSync(join(outDir, archive), content);
  writeFileSync(join(outDir, "images.json"), JSON.stringify(images));
  writeFileSync(made, from);
}

function programLayer(): Layer {
  const folder = mkdtempSync(join(tmpdir(), "levee-next-"));
  try {
    for (const path of programSources) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(root, path), join(folder, path), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const versionFile = join(folder, "src/base/version.ts");
    writeFileSync(versionFile, readFileSync(versionFile, "utf8").replace(`"${version}"`, `"${nextVersion}"`));
    const program = join(folder, "levee");
    compileLevee(folder, program);
    const tree = new FileTree();
    tree.file("usr/local/bin/levee", readFileSync(program), 0o755);
    return layerOf("levee", tree.entries, 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Descriptor {
  readonly digest: string;
  readonly platform?: { readonly architecture: string };
}

/** The image of this checkout with another layer in the place of its program. */
function withProgram(program: Layer): Archive {
  const files = readTar(readFileSync(join(root, "dist/image", archive)));
  const top = read<{ manifests: readonly Descriptor[] }>(files, "index.json");
  const index = read<{ manifests: readonly Descriptor[] }>(files, blobOf(top.manifests[0]));
  const own = index.manifests.find(({ platform }) => platform?.architecture === hostArchitecture);
  const manifest = read<{ config: Descriptor; layers: readonly Descriptor[] }>(files, blobOf(own));
  const config = read<{
    rootfs: { diff_ids: readonly string[] };
    history: readonly { created_by: string }[];
  }>(files, blobOf(manifest.config));
  const layers = manifest.layers.map((layer, at): Layer => {
    const about = config.history[at]?.created_by ?? "";
    if (about === program.about) return program;
    return { about, content: contentOf(files, blobOf(layer)), diffId: config.rootfs.diff_ids[at] ?? "" };
  });
  const [recipe] = recipes;
  if (recipe === undefined || !layers.includes(program)) throw new Error(`${archive} has no layer ${program.about}`);
  return archiveOf(
    {
      reference: `${imageHost}/levee:${nextVersion}`,
      labels: { "org.opencontainers.image.version": nextVersion },
      start: recipe.start,
      createdAt: new Date(0),
      platforms: [{ architecture: hostArchitecture, layers }],
    },
    0,
  );
}

function blobOf(descriptor: Descriptor | undefined): string {
  return `blobs/${descriptor?.digest.replace(":", "/") ?? ""}`;
}

function contentOf(files: Entries, path: string): Uint8Array {
  const found = files.get(path);
  if (found === undefined) throw new Error(`${archive} has no ${path}`);
  return found.content;
}

function read<T>(files: Entries, path: string): T {
  return JSON.parse(Buffer.from(contentOf(files, path)).toString("utf8")) as T; // as scripts/image writes it
}
