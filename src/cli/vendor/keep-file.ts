import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { vendoredBytesMax } from "./download.ts";
import type { FetchedSource } from "./fetch-source.ts";
import { readVendorLock, writeVendorLock, type VendoredFile, type VendoredImage } from "./vendor-lock.ts";
import { vendoredPlace, prepareFolder } from "./vendor-path.ts";
import { divide, headerFor, hexSha256, isOnlyComments } from "./vendored-header.ts";

/** A header of people may be long, but it is no manifest. */
const headerBytesMax = 65_536;

/** The vendored file as it is in the repository; undefined if it is not there. */
export async function readKept(root: string, path: string): Promise<Uint8Array | undefined> {
  const place = await vendoredPlace(root, path);
  return readRegularFile(place, { bytesMax: vendoredBytesMax + headerBytesMax, followLinks: false }).catch(
    (thrown: unknown) => {
      if (errnoOf(thrown) === "ENOENT") return undefined;
      throw thrown;
    },
  );
}

/** The header of a file whose body is the one expected. Undefined if more than comments differ. */
export function headerOf(
  kept: Uint8Array,
  { bytes, sha256 }: Pick<VendoredFile, "bytes" | "sha256">,
): string | undefined {
  const divided = divide(kept, bytes);
  if (divided === undefined || hexSha256(divided.body) !== sha256 || !isOnlyComments(divided.header)) return undefined;
  return divided.header;
}

/** A source that was judged, with its place and what people wrote above it. */
export interface KeptSource {
  readonly path: string;
  readonly source: FetchedSource;
  readonly header: string;
}

/**
 * Writes the files, then the lock. Each file is replaced as a whole. A run that is killed in between leaves files that
 * are newer than the lock: the same command again finds them in place and writes the lock.
 */
export async function keepSources(root: string, kept: readonly KeptSource[]): Promise<void> {
  for (const { path, source, header } of kept) {
    // Looked at again, because the download took time.
    const place = await vendoredPlace(root, path);
    await prepareFolder(place);
    const content = Buffer.concat([Buffer.from(headerFor(source, header)), source.content]);
    await writeFileAtomically(place, content, { mode: 0o644, sync: true });
  }
  const old = await readVendorLock(root);
  const paths = new Set(kept.map(({ path }) => path));
  const digests = new Map(
    old.flatMap(({ images }) => images).map(({ image, digest }): [string, string | undefined] => [image, digest]),
  );
  const entries = kept.map(({ path, source }) => entryOf(path, source, digests));
  await writeVendorLock(root, [...old.filter(({ path }) => !paths.has(path)), ...entries]);
}

/** A digest that a person gave stays with its image. */
function entryOf(
  path: string,
  { url, sha256, bytes, images }: FetchedSource,
  digests: ReadonlyMap<string, string | undefined>,
): VendoredFile {
  const withDigest = ({ image }: VendoredImage): VendoredImage => {
    const digest = digests.get(image);
    return digest === undefined ? { image } : { image, digest };
  };
  return { path, url, sha256, bytes, images: images.map(withDigest) };
}
