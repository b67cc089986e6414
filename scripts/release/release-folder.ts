import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { factsFile } from "../../src/cli/registry/release-facts.ts";
import { cannotWrite, makeOutputFolder, removeUnfinished } from "../output-folder.ts";

/** A new folder beside the place of the release. It takes that place when everything is in it, or it vanishes. */
export class ReleaseFolder implements Disposable {
  readonly #place: string;
  readonly #fresh: string;
  readonly #hashes = new Map<string, string>();

  constructor(place: string) {
    refuseStranger(place);
    this.#place = place;
    makeOutputFolder(dirname(place));
    removeUnfinished(dirname(place), /^\.levee-release-(\d+)-/u);
    this.#fresh = newFolderBeside(place);
    chmodSync(this.#fresh, 0o755);
  }

  /** The SHA-256 of each file so far, by its path in the release. */
  get hashes(): ReadonlyMap<string, string> {
    return this.#hashes;
  }

  /** Writes a file and gives its SHA-256. */
  add(path: string, content: string | Uint8Array): string {
    const file = join(this.#fresh, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    } catch (thrown) {
      throw cannotWrite(file, thrown);
    }
    const sha256 = createHash("sha256").update(content).digest("hex");
    this.#hashes.set(path, sha256);
    return sha256;
  }

  /** Puts the folder in its place. An earlier release there goes once this one is in place. */
  finish(): void {
    if (!existsSync(this.#place)) return renameSync(this.#fresh, this.#place);
    const aside = newFolderBeside(this.#place);
    const earlier = join(aside, "earlier");
    try {
      renameSync(this.#place, earlier);
      renameSync(this.#fresh, this.#place);
    } catch (thrown) {
      if (existsSync(earlier)) renameSync(earlier, this.#place);
      throw cannotWrite(this.#place, thrown);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#fresh, { recursive: true, force: true });
  }
}

/** Its name has our process, so that the next run can remove it if this one is killed. */
function newFolderBeside(place: string): string {
  try {
    return mkdtempSync(join(dirname(place), `.levee-release-${process.pid}-`));
  } catch (thrown) {
    throw cannotWrite(dirname(place), thrown);
  }
}

/** The folder is replaced as a whole, so it must be ours. */
function refuseStranger(place: string): void {
  if (!existsSync(place)) return;
  const isOurs =
    statSync(place).isDirectory() && (readdirSync(place).length === 0 || existsSync(join(place, factsFile)));
  if (!isOurs)
    throw new Error(
      `Cannot write a release to ${place}: it is there already and no release, for it has no ${factsFile}; choose a new folder with --out`,
    );
}
