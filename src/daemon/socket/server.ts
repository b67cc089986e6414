import { chmod, lstat, mkdir, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Cancel, Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { encodeFrame, type Frame } from "../../wire/frame.ts";
import { ServerConnection, type ConnectionHost, type PeerSocket } from "./server-connection.ts";

const socketName = "levee.sock";

/** A silent peer holds a descriptor. A local process needs far less than this for one frame. */
const firstFrameMsMax = 5_000;
/** How often connections are checked for their `closeAtMs`. One timer serves all, because there may be thousands. */
const lookMs = 1_000;

export interface ServerOptions {
  readonly socketDir: string;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly connectionsMax: number;
  /** Called with each new connection and its first frame. */
  readonly onOpened: (connection: ServerConnection, first: Frame) => void;
}

/**
 * Listens on the daemon's socket. A peer can run plugins as root, so the folder is 0700 and the shim checks it too.
 * The socket is bound under a unique name and renamed into place. So there is a socket at every moment, and a dying
 * daemon cannot unlink the next one's.
 */
export class Server implements ConnectionHost {
  readonly path: string;
  readonly #options: ServerOptions;
  readonly #connections = new Set<ServerConnection>();
  /** Connections that have sent their last frame, until their sockets are closed. */
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
    // A waiting connection of node:net costs 3 KiB, and thousands may wait (ADR 0023).
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

  /** Takes no new peers. Connected peers stay. */
  async stopListening(): Promise<void> {
    // The next daemon may have renamed its socket over ours. That one must stay.
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

  /** One set of handlers for all sockets. The reason of a broken connection is ignored: the peer is gone either way. */
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
      // No half-open connections: a peer that ends its side gets no more frames.
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
        new LeveeError("try-later", `Cannot take another connection as ${connectionsMax} are open already`),
      );
      return;
    }
    this.#connections.add(connection);
    connection.closeAtMs = clock.monotonicMs() + firstFrameMsMax;
  }

  /** Takes the first frame. The code that it is passed to owns the connection from then on. */
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
