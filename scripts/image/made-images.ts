import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cannotWrite, makeOutputFolder, removeUnfinished } from "../output-folder.ts";
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

const unfinished = /^.+\.(\d+)\.tmp$/u;

/** New archives beside the earlier ones. They take the places of those together with their list, or they vanish. */
export class FreshArchives implements Disposable {
  readonly #folder: string;
  readonly #names: string[] = [];

  constructor(folder: string) {
    makeOutputFolder(folder);
    removeUnfinished(folder, unfinished);
    this.#folder = folder;
  }

  add(name: string, content: Uint8Array): void {
    this.#names.push(name);
    this.#write(name, content);
  }

  finish(images: Images, { key, createdAt }: MadeOf): void {
    const list = join(this.#folder, "images.json");
    // From here on nobody takes the old list for that of the new archives.
    rmSync(list, { force: true });
    for (const name of this.#names) renameSync(this.#fresh(name), join(this.#folder, name));
    const about = {
      "images.json": `${JSON.stringify(images, undefined, 2)}\n`,
      ".inputs": `${key} ${createdAt.toISOString()}`,
    };
    for (const [name, text] of Object.entries(about)) {
      this.#names.push(name);
      this.#write(name, text);
      renameSync(this.#fresh(name), join(this.#folder, name));
    }
  }

  [Symbol.dispose](): void {
    for (const name of this.#names) rmSync(this.#fresh(name), { force: true });
  }

  #write(name: string, content: string | Uint8Array): void {
    try {
      writeFileSync(this.#fresh(name), content);
    } catch (thrown) {
      throw cannotWrite(join(this.#folder, name), thrown);
    }
  }

  #fresh(name: string): string {
    return join(this.#folder, `${name}.${process.pid}.tmp`);
  }
}
