import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Recipe } from "./recipes.ts";

export interface BuiltImage {
  readonly name: Recipe["name"];
  /** The file beside images.json. */
  readonly archive: string;
  /** Of the index of all platforms. */
  readonly digest: string;
  /** The digest of each platform's manifest: `linux/amd64`. */
  readonly platforms: Readonly<Record<string, string>>;
}

/** The content of images.json. */
export interface Images {
  readonly version: string;
  readonly images: readonly BuiltImage[];
}

/** What images were made of. */
export interface MadeOf {
  /** Everything but the date. */
  readonly key: string;
  readonly createdAt: Date;
}

/** The images in a folder, if they were made of this; of any date, if none is given. */
export function madeImages(
  folder: string,
  { key, createdAt }: Pick<MadeOf, "key"> & { readonly createdAt: Date | undefined },
): Images | undefined {
  const [list, inputs] = [join(folder, "images.json"), join(folder, ".inputs")];
  if (!existsSync(list) || !existsSync(inputs)) return undefined;
  const [madeKey, madeAt] = readFileSync(inputs, "utf8").split(" ");
  if (madeKey !== key || (createdAt !== undefined && madeAt !== createdAt.toISOString())) return undefined;
  const images = JSON.parse(readFileSync(list, "utf8")) as Images; // as noteMade writes it
  return images.images.every(({ archive }) => existsSync(join(folder, archive))) ? images : undefined;
}

/** Before other archives are written, so that nobody takes the old list for theirs. */
export function forgetMade(folder: string): void {
  rmSync(join(folder, "images.json"), { force: true });
}

/** After the archives. */
export function noteMade(folder: string, images: Images, { key, createdAt }: MadeOf): void {
  writeWhole(join(folder, "images.json"), `${JSON.stringify(images, undefined, 2)}\n`);
  writeWhole(join(folder, ".inputs"), `${key} ${createdAt.toISOString()}`);
}

export function writeWhole(path: string, content: string | Uint8Array): void {
  const fresh = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(fresh, content);
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}
