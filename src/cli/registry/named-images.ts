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

function kustomizedImages({ contents }: Document): readonly string[] {
  const images = isMap(contents) ? contents.get("images") : undefined;
  if (!isSeq(images)) return [];
  return images.items.flatMap((entry) => {
    const part = (key: string): string => {
      const value = isMap(entry) ? entry.get(key) : undefined;
      // A tag such as 1.2 is a number to YAML.
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
    };
    const [name, tag, digest] = [part("newName") || part("name"), part("newTag"), part("digest")];
    return tag === "" && digest === "" ? [] : [`${name}${tag && `:${tag}`}${digest && `@${digest}`}`];
  });
}

/** A host with a dot, a path, and a tag or a digest. Addresses of web pages have a scheme, and API groups no tag. */
function looksLikeImage(text: string): boolean {
  const found = parseImage(text);
  if (found === undefined || registryOf(found.name)?.includes(".") !== true) return false;
  return found.digest !== undefined || found.tag !== undefined;
}
