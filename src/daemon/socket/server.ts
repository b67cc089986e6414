import type { Cancel, Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { encodeFrame, type Frame } from "../../wire/frame.ts";
import { ServerConnection, type ConnectionHost, type PeerSocket } from "./server-connection.ts";
import { bindUnix, type Bind, type Bound, type PeerEvents } from "./server-socket.ts";
import { SocketPlace } from "./socket-place.ts";

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
  /** Where peers come from; a socket file by default. */
  readonly bind?: Bind | undefined;
}

/** The peers on the daemon's socket: their number, their first frames, heartbeats to them, and their end. */
export class Server implements ConnectionHost {
  readonly #options: ServerOptions;
  readonly #place: SocketPlace;
  readonly #connections = new Set<ServerConnection>();
  /** Connections that have sent their last frame, until their sockets are closed. */
  readonly #ending = new Set<ServerConnection>();
  #bound: Bound | undefined;
  readonly #timers: Cancel[] = [];

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#place = new SocketPlace({ folder: options.socketDir, name: "levee.sock", setting: "socketDir" });
  }

  get path(): string {
    return this.#place.path;
  }

  async listen(): Promise<void> {
    const { clock, heartbeatMs, bind = bindUnix } = this.#options;
    this.#bound = await bind(this.#place, { events: this.#events(), clock });
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
    await this.#bound?.stop();
  }

  closeConnections(): void {
    for (const stop of this.#timers) stop();
    for (const connection of [...this.#connections, ...this.#ending]) connection.close();
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** One set of handlers for all sockets. The reason of a broken connection is ignored: the peer is gone either way. */
  #events(): PeerEvents {
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
