import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readTar, type Entries } from "../../../scripts/debian/tar.ts";

interface Descriptor {
  readonly digest: string;
  readonly platform?: { readonly architecture: string };
}

/** Unpacks the files of one platform's image from its archive, as a runtime would. */
export function unpackImage(archive: string, architecture: string, folder: string): void {
  const files = readTar(readFileSync(archive));
  const top = read<{ manifests: readonly Descriptor[] }>(files, "index.json");
  const index = read<{ manifests: readonly Descriptor[] }>(files, blobPath(top.manifests[0]));
  const own = index.manifests.find(({ platform }) => platform?.architecture === architecture);
  if (own === undefined) throw new Error(`${archive} has no image for ${architecture}; npm run image makes it`);
  for (const layer of read<{ layers: readonly Descriptor[] }>(files, blobPath(own)).layers) {
    const input = files.get(blobPath(layer))?.content;
    const { status, stderr } = spawnSync("tar", ["-xz", "-C", folder], { input, encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot unpack ${layer.digest} of ${archive}: ${stderr}`);
  }
}

function blobPath(descriptor: Descriptor | undefined): string {
  return `blobs/${descriptor?.digest.replace(":", "/") ?? ""}`;
}

function read<T>(files: Entries, path: string): T {
  return JSON.parse(Buffer.from(files.get(path)?.content ?? []).toString("utf8")) as T; // as scripts/image writes it
}
