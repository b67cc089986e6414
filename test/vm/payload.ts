import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../e2e/run.ts";
import { payloadFolder } from "./image/initramfs.ts";
import type { GuestFile } from "./image/base-files.ts";
import { writeFiles } from "./image/write-files.ts";

/** Room for the file system's own tables. */
const spareBytes = 64 * 1024 * 1024;

/** The second disk of a machine: what the run brings along. It is read only, so a boot finds it as it was. */
export interface PayloadParts {
  /** Name in the guest's `bin` folder, or in one below it, to file on this machine. */
  readonly programs: Readonly<Record<string, string>>;
  /** Archives for containerd. */
  readonly images: readonly PayloadImage[];
  /** Copied to the guest's root at its first boot. */
  readonly files: readonly GuestFile[];
}

export interface PayloadImage {
  readonly archive: string;
  /** The repository in the archive that manifests name with the image's digest instead of a tag. */
  readonly namedByDigest?: string;
}

/** Writes the disk; its path. A disk is quicker than a copy over an emulated network. */
export function makePayload(folder: string, { programs, images, files }: PayloadParts): string {
  const content = join(folder, "payload");
  for (const path of ["bin", "images", "files"]) mkdirSync(join(content, path), { recursive: true });
  for (const [name, file] of Object.entries(programs)) {
    mkdirSync(dirname(join(content, "bin", name)), { recursive: true });
    copyFileSync(file, join(content, "bin", name));
    chmodSync(join(content, "bin", name), 0o755);
  }
  for (const [index, { archive }] of images.entries()) copyFileSync(archive, join(content, "images", `${index}.tar`));
  writeFileSync(join(content, "import-images"), importScript(images));
  writeFiles(join(content, "files"), files);
  const bytes = Number(run("du", "-sb", content).split("\t")[0]);
  const disk = join(folder, "payload.raw");
  run("truncate", "-s", String(Math.ceil((bytes * 1.1 + spareBytes) / 4096) * 4096), disk);
  run("mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-L", "payload", "-d", content, disk);
  rmSync(content, { recursive: true });
  return disk;
}

function importScript(images: readonly PayloadImage[]): string {
  const lines = images.map(({ namedByDigest }, index) => {
    const names = namedByDigest === undefined ? "" : ` --base-name ${namedByDigest} --digests`;
    return `ctr -n k8s.io images import${names} ${payloadFolder}/images/${index}.tar`;
  });
  return ["set -e", ...lines, ""].join("\n");
}
