import { isMap, isScalar, isSeq, visit, type Document } from "yaml";
import { parseImage, registryOf } from "./image-reference.ts";

/**
 * `image` of a container, and every other text that looks like an image of a registry: operators take the images of
 * their parts from variables and arguments. A kustomization puts its images together from parts.
 */
export function namedImages(document: Document): readonly string[] {
  const names = [...kustomizedImages(document)];
  visit(document, {
    Pair(_key, pair) {
      if (!isScalar(pair.key) || pair.key.value !== "image" || !isScalar(pair.value)) return;
      if (typeof pair.value.value === "string") names.push(pair.value.value);
    },
    Scalar(_key, { value }) {
      if (typeof value === "string" && looksLikeImage(value)) names.push(value);
    },
  });
  return names;
}

/** The names that a kustomization puts other images in the place of: in its folder they are no images themselves. */
export function replacedNames(document: Document): readonly string[] {
  return kustomizations(document).map(({ name }) => name);
}

function kustomizedImages(document: Document): readonly string[] {
  return kustomizations(document).map(
    ({ name, newName, tag, digest }) => `${newName || name}${tag && `:${tag}`}${digest && `@${digest}`}`,
  );
}

interface Kustomized {
  readonly name: string;
  readonly newName: string;
  readonly tag: string;
  readonly digest: string;
}

/** The entries of a kustomization that set a tag or a digest. */
function kustomizations({ contents }: Document): readonly Kustomized[] {
  const images = isMap(contents) ? contents.get("images") : undefined;
  if (!isSeq(images)) return [];
  return images.items.flatMap((entry) => {
    const part = (key: string): string => {
      const value = isMap(entry) ? entry.get(key) : undefined;
      // A tag such as 1.2 is a number to YAML.
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
    };
    const found = { name: part("name"), newName: part("newName"), tag: part("newTag"), digest: part("digest") };
    return found.tag === "" && found.digest === "" ? [] : [found];
  });
}

/** A host with a dot, a path, and a tag or a digest. Addresses of web pages have a scheme, and API groups no tag. */
function looksLikeImage(text: string): boolean {
  const found = parseImage(text);
  if (found === undefined || registryOf(found.name)?.includes(".") !== true) return false;
  return found.digest !== undefined || found.tag !== undefined;
}
