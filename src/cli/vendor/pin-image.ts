import { usageFailure } from "../failure.ts";
import { readVendorLock, writeVendorLock, type VendoredFile } from "./vendor-lock.ts";

/** Writes down which image a tag meant when it was mirrored. Returns the files that name it. */
export async function pinImage(root: string, image: string, digest: string): Promise<readonly string[]> {
  if (!/^sha256:[0-9a-f]{64}$/u.test(digest))
    throw usageFailure(
      `Cannot pin ${image} to ${JSON.stringify(digest)}: a digest is sha256: and 64 hexadecimal digits`,
      "skopeo inspect --format '{{.Digest}}' docker://IMAGE",
    );
  const files = await readVendorLock(root);
  const naming = files.filter(({ images }) => images.some((one) => one.image === image));
  if (naming.length === 0)
    throw usageFailure(`Cannot pin ${image}: no vendored file names it`, "levee vendor verify -o yaml");
  if (image.includes("@"))
    throw usageFailure(`Cannot pin ${image}: the file names its digest itself`, "levee vendor verify -o yaml");
  const pinned = (file: VendoredFile): VendoredFile => ({
    ...file,
    images: file.images.map((one) => (one.image === image ? { image, digest } : one)),
  });
  await writeVendorLock(root, files.map(pinned));
  return naming.map(({ path }) => path);
}
