import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../run.ts";
import { ctr, pauseImage } from "./containerd.ts";

export const busyboxImage = "levee.test/busybox:1";

export interface ImageFiles {
  readonly tag: string;
  /** Path in the image to file on the machine. */
  readonly files: Readonly<Record<string, string>>;
  /** Path in the image to where it points. */
  readonly links?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly env?: readonly string[];
}

/** Nothing can be pulled in here: an image is a tar of one layer, made by hand and given to containerd. */
function importImage(folder: string, image: ImageFiles): void {
  const archive = writeImage(folder, image);
  ctr("images", "import", archive);
  rmSync(archive);
}

/** Writes the archive beside the folder; its path. */
export function writeImage(folder: string, image: ImageFiles): string {
  const layerFolder = join(folder, "layer");
  rmSync(folder, { recursive: true, force: true });
  for (const path of ["tmp", "etc", "proc", "sys", "dev", "bin"])
    mkdirSync(join(layerFolder, path), { recursive: true });
  for (const [inside, outside] of Object.entries(image.files)) {
    mkdirSync(dirname(join(layerFolder, inside)), { recursive: true });
    copyFileSync(outside, join(layerFolder, inside));
    chmodSync(join(layerFolder, inside), 0o755);
  }
  for (const [inside, target] of Object.entries(image.links ?? {})) symlinkSync(target, join(layerFolder, inside));
  const layer = join(folder, "layer.tar");
  run("tar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "-C", layerFolder, "-cf", layer, ".");
  rmSync(layerFolder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(configOf(image, layer)));
  const manifest = [{ Config: "config.json", RepoTags: [image.tag], Layers: ["layer.tar"] }];
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const tar = `${folder}.tar`;
  run("tar", "-C", folder, "-cf", tar, "manifest.json", "config.json", "layer.tar");
  rmSync(folder, { recursive: true });
  return tar;
}

/** The image of every test pod and of the sandboxes: one static busybox. */
export function importBusybox(folder: string, busybox: string): void {
  for (const image of busyboxImages(busybox)) importImage(folder, image);
}

export function busyboxImages(busybox: string): readonly ImageFiles[] {
  const files = { "/bin/busybox": busybox };
  const links = Object.fromEntries(["sh", "sleep", "httpd", "mkdir"].map((applet) => [`/bin/${applet}`, "busybox"]));
  const command = ["/bin/busybox", "sleep", "2147483647"];
  return [
    { tag: pauseImage, files, command },
    { tag: busyboxImage, files, links, command },
  ];
}

function configOf(image: ImageFiles, layer: string): unknown {
  const digest = createHash("sha256").update(readFileSync(layer)).digest("hex");
  return {
    architecture: process.arch === "arm64" ? "arm64" : "amd64",
    os: "linux",
    config: { Cmd: image.command, Env: ["PATH=/bin:/usr/local/bin", ...(image.env ?? [])] },
    rootfs: { type: "layers", diff_ids: [`sha256:${digest}`] },
  };
}
