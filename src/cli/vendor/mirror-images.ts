import type { VendoredFile } from "./vendor-lock.ts";

/** An image that a site without internet access has to mirror. */
export interface MirrorImage {
  /** As the files have it. */
  readonly image: string;
  readonly digest?: string;
  /** The vendored files that name it. */
  readonly files: readonly string[];
}

export function mirrorImages(files: readonly VendoredFile[]): readonly MirrorImage[] {
  const found = new Map<string, { digest: string | undefined; files: string[] }>();
  for (const { path, images } of files)
    for (const { image, digest } of images) {
      const known = found.get(image) ?? { digest: undefined, files: [] };
      found.set(image, { digest: known.digest ?? digest ?? digestIn(image), files: [...known.files, path] });
    }
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([image, { digest, files: naming }]) => ({
      image,
      ...(digest === undefined ? {} : { digest }),
      files: naming,
    }));
}

/** The line that copies an image into a registry, under its own path there. By digest where it is known. */
export function copyLine({ image, digest }: MirrorImage, registry: string): string {
  const { host, path, tag } = imageParts(image);
  const source = digest === undefined ? `${host}/${path}:${tag ?? "latest"}` : `${host}/${path}@${digest}`;
  const target = `${registry}/${path}${tag === undefined ? `@${digest ?? ""}` : `:${tag}`}`;
  return `skopeo copy --all --preserve-digests docker://${source} docker://${target}`;
}

/** An image without a host is Docker Hub's, as for every runtime. */
function imageParts(image: string): { readonly host: string; readonly path: string; readonly tag: string | undefined } {
  const [name = "", digest] = image.split("@");
  const [first = "", ...rest] = name.split("/");
  const hasHost = rest.length > 0 && /[.:]|^localhost$/u.test(first);
  const host = hasHost ? first : "docker.io";
  const full = hasHost ? rest.join("/") : `${rest.length === 0 ? "library/" : ""}${name}`;
  const [path = "", tag] = full.split(":");
  return { host, path, tag: tag ?? (digest === undefined ? "latest" : undefined) };
}

function digestIn(image: string): string | undefined {
  return image.split("@")[1];
}
