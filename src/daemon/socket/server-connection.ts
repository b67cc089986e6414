import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { HandChannel } from "../../hands/hand-channel.ts";
import { FrameReader } from "../../wire/frame-reader.ts";
import type { Frame } from "../../wire/frame.ts";
import { encodeRefuse } from "../../wire/messages.ts";

/** Bounds the memory that a peer can hold by not reading. The longest frames and many small ones fit. */
const unsentBytesMax = 4 * 1_048_576;
/** How long a peer may take to read the last frame and close its side. */
const farewellMs = 1_000;

/** One error for all connections, because its stack is never read. */
const peerGone = new LeveeError("hand-lost", "The peer closed the connection");

/** Takes the frames of a connection. It is an object because thousands may wait, and a closure for each would add up. */
export interface ConnectionOwner {
  take(frame: Frame, connection: ServerConnection): void;
  /** The peer is gone. */
  left?(reason: Error): void;
}

/** Keeps all connections, whatever their owner, and closes each at its `closeAtMs`. */
export interface ConnectionHost extends ConnectionOwner {
  /** The connection has sent its last frame. Its socket may stay open a little longer. */
  ended(connection: ServerConnection): void;
}

/** The part of a socket that a connection uses. The server puts the connection into its `data`. */
export interface PeerSocket {
  data: ServerConnection | undefined;
  /** Returns how many bytes the kernel took. */
  write(bytes: Uint8Array): number;
  /** Hangs up when the bytes are sent. */
  end(): void;
  /** Hangs up at once. */
  terminate(): void;
}

/** Takes the frames of a call. */
export interface CallOwner {
  take(frame: Frame): void;
  left?(reason: Error): void;
}

/** What a call needs of its peer: a connection, or a stand-in for a peer that does not speak the protocol. */
export type CallChannel = HandChannel &
  Pick<ServerConnection, "closeAtMs" | "endWith" | "refuse"> & { handOver(owner: CallOwner): void };

/** One peer on the socket: frames in, frames out, and a signal for its end. */
export class ServerConnection implements HandChannel {
  /** When the server closes it, on the monotonic clock. */
  closeAtMs = Number.POSITIVE_INFINITY;
  readonly #socket: PeerSocket;
  readonly #reader = new FrameReader();
  readonly #clock: Clock;
  readonly #host: ConnectionHost;
  #owner: ConnectionOwner;
  #isClosed = false;
  #gone: AbortController | undefined;
  /** The bytes that the kernel has not taken yet; undefined when it has taken all. */
  #unsent: Uint8Array | undefined;
  /** The unsent bytes are the last ones. */
  #isEnding = false;

  constructor(socket: PeerSocket, clock: Clock, host: ConnectionHost) {
    this.#socket = socket;
    this.#clock = clock;
    this.#host = host;
    this.#owner = host;
  }

  /** Made on first use: most owners only need `left`. */
  get closed(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController();
      if (this.#isClosed) this.#gone.abort(peerGone);
    }
    return this.#gone.signal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** From here on `owner` takes the frames. */
  handOver(owner: ConnectionOwner): void {
    this.#owner = owner;
  }

  send(frame: Uint8Array): void {
    if (this.isClosed) return;
    this.#write(frame);
    if ((this.#unsent?.length ?? 0) > unsentBytesMax) this.close();
  }

  /** Sends the reason and hangs up. */
  refuse(error: LeveeError): void {
    this.endWith(encodeRefuse(error));
  }

  /** Sends a last frame and hangs up. */
  endWith(frame: Uint8Array): void {
    if (this.isClosed) return;
    this.#write(frame);
    this.#isEnding = true;
    this.#endIfSent();
    // A peer that neither reads nor hangs up would hold a descriptor as long as it lives.
    this.closeAtMs = this.#clock.monotonicMs() + farewellMs;
    this.leave();
  }

  close(): void {
    this.#socket.terminate();
    this.leave();
  }

  /** The kernel can take more bytes. */
  drain(): void {
    const { length = 0 } = this.#unsent ?? {};
    if (length > 0) this.#flush();
    this.#endIfSent();
  }

  receive(chunk: Uint8Array): void {
    if (this.isClosed) return;
    try {
      for (const frame of this.#reader.push(chunk)) {
        this.#owner.take(frame, this);
        // Frames that came in one chunk with the last one are ignored.
        if (this.isClosed) return;
      }
    } catch (thrown) {
      this.refuse(toLeveeError(thrown, "Cannot read from the socket"));
    }
  }

  /** The peer is gone, or the daemon no longer listens to it. */
  leave(): void {
    if (this.isClosed) return;
    this.#isClosed = true;
    this.#host.ended(this);
    this.#owner.left?.(peerGone);
    this.#gone?.abort(peerGone);
  }

  /** Unsent bytes stay in one buffer: frames are few and small, and seldom have to wait. */
  #write(frame: Uint8Array): void {
    const wasWaiting = this.#unsent !== undefined;
    this.#unsent = this.#unsent === undefined ? frame : Buffer.concat([this.#unsent, frame]);
    if (!wasWaiting) this.#flush();
  }

  #flush(): void {
    const unsent = this.#unsent;
    if (unsent === undefined) return;
    const taken = this.#socket.write(unsent);
    if (taken >= unsent.length) this.#unsent = undefined;
    // A broken connection takes nothing; its end comes as an event of its own.
    else if (taken > 0) this.#unsent = Uint8Array.prototype.slice.call(unsent, taken);
  }

  #endIfSent(): void {
    if (this.#isEnding && this.#unsent === undefined) this.#socket.end();
  }
}
