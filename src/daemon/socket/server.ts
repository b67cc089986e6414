import { chmod, lstat, mkdir, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Cancel, Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { encodeFrame, type Frame } from "../../wire/frame.ts";
import { ServerConnection, type ConnectionHost, type PeerSocket } from "./server-connection.ts";

const socketName = "levee.sock";

/** A peer that connects and says nothing holds a descriptor; five seconds are plenty for one frame from a local process. */
const firstFrameMsMax = 5_000;
/** How often connections are looked at for the end of their time; one timer for all, as there may be thousands. */
const lookMs = 1_000;

export interface ServerOptions {
  readonly socketDir: string;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly connectionsMax: number;
  /** Takes a connection with its first frame. */
  readonly onOpened: (connection: ServerConnection, first: Frame) => void;
}

/**
 * The daemon's door. Whoever can talk here runs plugins as root, so the folder is 0700 and the shim checks it too.
 * The socket is bound under a unique name and renamed into place: there is never a moment without a socket, and a
 * dying daemon cannot unlink its successor's.
 */
export class Server implements ConnectionHost {
  readonly path: string;
  readonly #options: ServerOptions;
  readonly #connections = new Set<ServerConnection>();
  /** Those that have had their last word, until their sockets are closed. */
  readonly #ending = new Set<ServerConnection>();
  #listener: Bun.UnixSocketListener<ServerConnection | undefined> | undefined;
  #inode: bigint | undefined;
  readonly #timers: Cancel[] = [];

  constructor(options: ServerOptions) {
    this.#options = options;
    this.path = join(options.socketDir, socketName);
  }

  async listen(): Promise<void> {
    const { socketDir, clock, heartbeatMs } = this.#options;
    await makePrivateFolder(socketDir);
    const unique = `${this.path}.${Buffer.from(clock.randomBytes(6)).toString("hex")}`;
    // Not node:net: a connection of it costs 3 KiB while it waits, and thousands may. See ADR 0023.
    this.#listener = Bun.listen({ unix: unique, data: undefined, socket: this.#handlers() });
    await chmod(unique, 0o600);
    this.#inode = (await stat(unique, { bigint: true })).ino;
    await rename(unique, this.path);
    const beat = encodeFrame("HEARTBEAT", []);
    this.#timers.push(
      clock.every(heartbeatMs, () => {
        for (const connection of this.#connections) connection.send(beat);
      }),
      clock.every(lookMs, () => this.#closeLate()),
    );
  }

  /** Takes no new peers; those connected stay until they are done. */
  async stopListening(): Promise<void> {
    // A successor may have renamed its own socket over ours meanwhile; that one is not ours to remove.
    const current = await stat(this.path, { bigint: true }).catch(() => undefined);
    if (current !== undefined && current.ino === this.#inode) await unlink(this.path).catch(() => undefined);
    this.#listener?.stop();
  }

  closeConnections(): void {
    for (const stop of this.#timers) stop();
    for (const connection of [...this.#connections, ...this.#ending]) connection.close();
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** One set for all sockets. The reason of a broken connection does not matter: the peer is gone either way. */
  #handlers(): Bun.SocketHandler<ServerConnection | undefined> {
    const leave = ({ data }: PeerSocket): void => data?.leave();
    return {
      open: (socket) => {
        const connection = new ServerConnection(socket, this.#options.clock, this);
        socket.data = connection;
        this.#welcome(connection);
      },
      data: ({ data }, chunk) => data?.receive(chunk),
      drain: ({ data }) => data?.drain(),
      // Without half-open connections: a peer that says no more hears no more.
      end: (socket) => {
        leave(socket);
        socket.end();
      },
      close: (socket) => {
        leave(socket);
        if (socket.data !== undefined) this.#ending.delete(socket.data);
      },
      error: leave,
    };
  }

  #welcome(connection: ServerConnection): void {
    const { clock, connectionsMax } = this.#options;
    if (this.#connections.size >= connectionsMax) {
      connection.refuse(
        new LeveeError("try-later", `Cannot take another connection as there are ${connectionsMax} already`),
      );
      return;
    }
    this.#connections.add(connection);
    connection.closeAtMs = clock.monotonicMs() + firstFrameMsMax;
  }

  /** The first frame of a connection; whoever is given it owns the connection from then on. */
  take(frame: Frame, connection: ServerConnection): void {
    connection.closeAtMs = Number.POSITIVE_INFINITY;
    this.#options.onOpened(connection, frame);
  }

  ended(connection: ServerConnection): void {
    this.#connections.delete(connection);
    this.#ending.add(connection);
  }

  #closeLate(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const peers of [this.#connections, this.#ending])
      for (const connection of peers) if (connection.closeAtMs <= nowMs) connection.close();
  }
}

/** Makes the folder, or refuses one that is not root's: the shim would not trust it. Its parents are not ours to judge. */
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
    // As the shim checks it: any other bit makes it turn away.
    if ((facts.mode & 0o7777) !== 0o700) await chmod(folder, 0o700);
  } catch (cause) {
    throw new LeveeError(
      "setting-invalid",
      `Cannot make ${folder} private: ${errnoOf(cause) ?? "chmod failed"}; it must belong to root and have mode 0700`,
      { cause },
    );
  }
}
