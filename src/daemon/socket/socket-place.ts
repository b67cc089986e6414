import { chmod, lstat, mkdir, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";

interface PlaceOptions {
  readonly folder: string;
  readonly name: string;
  /** The setting that names the folder, for errors. */
  readonly setting: string;
}

/**
 * The file of a socket. A peer can run plugins as root, so the folder is 0700 and the shim checks it too. The socket is
 * bound under a unique name and renamed into place. So there is a socket at every moment, and a dying daemon cannot
 * unlink the next one's.
 */
export class SocketPlace {
  readonly path: string;
  readonly #options: PlaceOptions;
  #inode: bigint | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
    this.path = join(options.folder, options.name);
  }

  async take(clock: Pick<Clock, "randomBytes">, bind: (path: string) => void): Promise<void> {
    await makePrivateFolder(this.#options.folder, this.#options.setting);
    const unique = `${this.path}.${Buffer.from(clock.randomBytes(6)).toString("hex")}`;
    bind(unique);
    await chmod(unique, 0o600);
    this.#inode = (await stat(unique, { bigint: true })).ino;
    await rename(unique, this.path);
  }

  /** The next daemon may have renamed its socket over ours. That one must stay. */
  async leave(): Promise<void> {
    const current = await stat(this.path, { bigint: true }).catch(() => undefined);
    if (current !== undefined && current.ino === this.#inode) await unlink(this.path).catch(() => undefined);
  }
}

/** Makes the folder, or refuses another user's, because the shim would not trust it. Parent folders are not checked. */
async function makePrivateFolder(folder: string, setting: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const errno = errnoOf(cause) ?? "mkdir failed";
    const why = errno === "EEXIST" || errno === "ENOTDIR" ? "there is a file in its place" : "it cannot be made";
    throw new LeveeError(
      "setting-invalid",
      `Cannot use ${setting} as it must be a folder: current value is ${folder}, and ${why} (${errno})`,
      { cause },
    );
  }
  const facts = await lstat(folder);
  if (!facts.isDirectory()) {
    throw new LeveeError("setting-invalid", `Cannot listen in ${folder} as it must be a folder, not a link or a file`);
  }
  if (facts.uid !== 0) {
    const mode = (facts.mode & 0o7777).toString(8).padStart(4, "0");
    throw new LeveeError(
      "setting-invalid",
      `Cannot trust the socket folder ${folder}: it must be a folder of uid 0 with mode 0700, it is a folder of uid ${facts.uid} with mode ${mode}; give it to root (chown 0:0 ${folder}) or set another ${setting}`,
    );
  }
  try {
    // The shim refuses a folder with any other bit.
    if ((facts.mode & 0o7777) !== 0o700) await chmod(folder, 0o700);
  } catch (cause) {
    throw new LeveeError(
      "setting-invalid",
      `Cannot make ${folder} private: ${errnoOf(cause) ?? "chmod failed"}; it must belong to root and have mode 0700`,
      { cause },
    );
  }
}
