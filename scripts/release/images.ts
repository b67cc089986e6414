import { readFileSync } from "node:fs";
import { parseImages, type ReleaseImage } from "../../src/cli/registry/release-facts.ts";

/** The images that `npm run image` left: names, digests and archives. */
export function readImages(file: string): readonly ReleaseImage[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new Error(`Cannot read ${file}: npm run image writes it; run that first`, { cause });
  }
  const images = parseImages(JSON.parse(text) as unknown, file);
  for (const name of ["levee", "levee-guard"]) imageNamed(images, name);
  return images;
}

export function imageNamed(images: readonly ReleaseImage[], name: string): ReleaseImage {
  const found = images.find((image) => image.name === name);
  if (found !== undefined) return found;
  const there = images.map((image) => image.name).join(", ");
  throw new Error(`Cannot find the image ${name}: there is ${there === "" ? "none" : there}`);
}
