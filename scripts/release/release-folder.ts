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

/** A new folder beside the place of the release. It takes that place when everything is in it, or it vanishes. */
export class ReleaseFolder implements Disposable {
  readonly #place: string;
  readonly #fresh: string;
  readonly #hashes = new Map<string, string>();

  constructor(place: string) {
    refuseStranger(place);
    this.#place = place;
    mkdirSync(dirname(place), { recursive: true });
    this.#fresh = mkdtempSync(join(dirname(place), ".levee-release-"));
    chmodSync(this.#fresh, 0o755);
  }

  /** The SHA-256 of each file so far, by its path in the release. */
  get hashes(): ReadonlyMap<string, string> {
    return this.#hashes;
  }

  /** Writes a file and gives its SHA-256. */
  add(path: string, content: string | Uint8Array): string {
    const file = join(this.#fresh, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const sha256 = createHash("sha256").update(content).digest("hex");
    this.#hashes.set(path, sha256);
    return sha256;
  }

  /** Puts the folder in its place. An earlier release there goes. */
  finish(): void {
    if (!existsSync(this.#place)) return renameSync(this.#fresh, this.#place);
    const earlier = mkdtempSync(join(dirname(this.#place), ".levee-release-"));
    try {
      renameSync(this.#place, join(earlier, "earlier"));
      renameSync(this.#fresh, this.#place);
    } finally {
      rmSync(earlier, { recursive: true, force: true });
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#fresh, { recursive: true, force: true });
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
