import { chmod, lstat, mkdir, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import type { PeerSocket, ServerConnection } from "./server-connection.ts";

/** What happens to a peer's socket. One set for all sockets. */
export interface PeerEvents {
  open(socket: PeerSocket): void;
  data(socket: PeerSocket, chunk: Uint8Array): void;
  drain(socket: PeerSocket): void;
  end(socket: PeerSocket): void;
  close(socket: PeerSocket): void;
  error(socket: PeerSocket): void;
}

export interface Bound {
  /** Takes no new peers. */
  stop(): Promise<void>;
}

/** Lets peers connect at `path` from now on. The simulator has a door of its own. */
export type Bind = (path: string, options: { readonly events: PeerEvents; readonly clock: Clock }) => Promise<Bound>;

/**
 * Listens on a socket file. A peer can run plugins as root, so the folder is 0700 and the shim checks it too. The socket
 * is bound under a unique name and renamed into place. So there is a socket at every moment, and a dying daemon cannot
 * unlink the next one's.
 */
export const bindUnix: Bind = async (path, { events, clock }) => {
  await makePrivateFolder(dirname(path));
  const unique = `${path}.${Buffer.from(clock.randomBytes(6)).toString("hex")}`;
  // A waiting connection of node:net costs 3 KiB, and thousands may wait (ADR 0023).
  const listener = Bun.listen<ServerConnection | undefined>({ unix: unique, data: undefined, socket: events });
  await chmod(unique, 0o600);
  const { ino: inode } = await stat(unique, { bigint: true });
  await rename(unique, path);
  return {
    async stop() {
      // The next daemon may have renamed its socket over ours. That one must stay.
      const current = await stat(path, { bigint: true }).catch(() => undefined);
      if (current !== undefined && current.ino === inode) await unlink(path).catch(() => undefined);
      listener.stop();
    },
  };
};

/** Makes the folder, or refuses another user's, because the shim would not trust it. Parent folders are not checked. */
async function makePrivateFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const errno = errnoOf(cause) ?? "mkdir failed";
    const why = errno === "EEXIST" || errno === "ENOTDIR" ? "there is a file in its place" : "it cannot be made";
    throw new LeveeError(
      "setting-invalid",
      `Cannot use socketDir as it must be a folder: current value is ${folder}, and ${why} (${errno})`,
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
      `Cannot trust the socket folder ${folder}: it must be a folder of uid 0 with mode 0700, it is a folder of uid ${facts.uid} with mode ${mode}; give it to root (chown 0:0 ${folder}) or set another socketDir`,
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
