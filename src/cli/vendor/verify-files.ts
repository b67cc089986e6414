import { CommandFailure, toFailure } from "../failure.ts";
import { readManifestBytes } from "./manifest-text.ts";
import { readKept } from "./keep-file.ts";
import type { VendoredFile, VendoredImage } from "./vendor-lock.ts";
import { divide, hexSha256, isOnlyComments } from "./vendored-header.ts";

/** How one vendored file compares with the lock. */
export interface VerifiedFile {
  readonly path: string;
  readonly url: string;
  readonly result: "ok" | "missing" | "changed" | "unsafe" | "unlisted" | "unlocked";
  /** What is wrong, and what to do; empty for `ok`. */
  readonly message: string;
  readonly remedy: string;
  readonly images: readonly VerifiedImage[];
}

interface VerifiedImage {
  readonly image: string;
  /** `digest`: the file names it. `pinned`: the lock has it. `tag`: it is only listed, and what it means can move. */
  readonly by: "digest" | "pinned" | "tag";
}

/** Compares files with the lock. Reads nothing but the repository. */
export async function verifyFiles(root: string, files: readonly VendoredFile[]): Promise<readonly VerifiedFile[]> {
  const verified: VerifiedFile[] = [];
  for (const file of files) verified.push(await verifyFile(root, file));
  return verified;
}

async function verifyFile(root: string, file: VendoredFile): Promise<VerifiedFile> {
  const { path, url, images } = file;
  const facts = { path, url, images: images.map(verifiedImage) };
  try {
    const kept = await readKept(root, path);
    const found = kept === undefined ? absent(path) : compared(kept, file);
    return { ...facts, ...(found ?? { result: "ok", message: "", remedy: "" }) };
  } catch (thrown) {
    if (!(thrown instanceof CommandFailure)) throw thrown;
    const { message, remedy } = toFailure(thrown);
    return { ...facts, result: "unsafe", message, remedy };
  }
}

type Found = Pick<VerifiedFile, "result" | "message" | "remedy">;

function absent(path: string): Found {
  return {
    result: "missing",
    message: `${path} is not there`,
    remedy: `git restore ${path}; if it is not needed any more, remove its entry from the lock file`,
  };
}

function compared(kept: Uint8Array, file: VendoredFile): Found | undefined {
  const { path } = file;
  const divided = divide(kept, file.bytes);
  if (divided === undefined)
    return changed(path, `has ${kept.length} bytes, fewer than the ${file.bytes} of its source`);
  const sha256 = hexSha256(divided.body);
  if (sha256 !== file.sha256)
    return changed(path, `has other bytes than its source: SHA-256 ${sha256}, locked ${file.sha256}`);
  if (!isOnlyComments(divided.header)) return changed(path, "has more than comments above the bytes of its source");
  const listed = new Set(file.images.map(({ image }) => image));
  const { images } = readManifestBytes(divided.body, path);
  const unlisted = images.filter((image) => !listed.has(image));
  if (unlisted.length === 0 && listed.size === images.length) return undefined;
  const what =
    unlisted.length > 0 ? `does not list ${unlisted.join(", ")}` : "lists images that the file does not name";
  return {
    result: "unlisted",
    message: `The lock's entry of ${path} ${what}, so a mirror made from it would be wrong`,
    remedy: `git log -p on the lock file; or remove the entry and add it again: levee vendor add ${file.url} --as ${path}`,
  };
}

function changed(path: string, how: string): Found {
  return {
    result: "changed",
    message: `${path} ${how}`,
    remedy: `git log -p ${path}; put your own changes into a kustomization beside it, and git restore the file`,
  };
}

function verifiedImage({ image, digest }: VendoredImage): VerifiedImage {
  if (image.includes("@sha256:")) return { image, by: "digest" };
  return { image, by: digest === undefined ? "tag" : "pinned" };
}
