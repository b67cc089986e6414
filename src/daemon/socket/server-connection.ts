import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { HandChannel } from "../../hands/hand.ts";
import { FrameReader } from "../../wire/frame-reader.ts";
import type { Frame } from "../../wire/frame.ts";
import { encodeRefuse } from "../../wire/messages.ts";

/** A peer that takes nothing of what it is sent holds memory for it; the longest frames and many small ones fit. */
const unsentBytesMax = 4 * 1_048_576;
/** How long a peer may take to hear our last word and hang up too. */
const farewellMs = 1_000;

/** Every connection ends so, and nobody looks at where: one for all of them. */
const peerGone = new LeveeError("hand-lost", "The peer closed the connection");

/** Who takes the frames of a connection. An object, as thousands may wait at a time and a closure for each adds up. */
export interface ConnectionOwner {
  take(frame: Frame, connection: ServerConnection): void;
  /** The peer is gone. */
  left?(reason: Error): void;
}

/** Who keeps the connections, whoever owns them, and closes each when its time has come. */
export interface ConnectionHost extends ConnectionOwner {
  /** It says no more; its socket may be there a while longer. */
  ended(connection: ServerConnection): void;
}

/** A peer's socket as the server has made it: its `data` is the connection itself. */
export type PeerSocket = Bun.Socket<ServerConnection | undefined>;

/** One peer on the socket: frames in, frames out, and a signal that says when it has gone. */
export class ServerConnection implements HandChannel {
  /** When the server cuts it off, on the monotonic clock. */
  closeAtMs = Number.POSITIVE_INFINITY;
  readonly #socket: PeerSocket;
  readonly #reader = new FrameReader();
  readonly #clock: Clock;
  readonly #host: ConnectionHost;
  #owner: ConnectionOwner;
  #isClosed = false;
  #gone: AbortController | undefined;
  /** What the kernel has not taken yet; undefined while it takes everything. */
  #unsent: Uint8Array | undefined;
  /** Nothing follows what is unsent. */
  #isEnding = false;

  constructor(socket: PeerSocket, clock: Clock, host: ConnectionHost) {
    this.#socket = socket;
    this.#clock = clock;
    this.#host = host;
    this.#owner = host;
  }

  /** Made when somebody asks for it: most who wait only want to be told by `left`. */
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

  /** Who takes the frames from here on. */
  handOver(owner: ConnectionOwner): void {
    this.#owner = owner;
  }

  send(frame: Uint8Array): void {
    if (this.isClosed) return;
    this.#write(frame);
    if ((this.#unsent?.length ?? 0) > unsentBytesMax) this.close();
  }

  /** Says why and hangs up. */
  refuse(error: LeveeError): void {
    this.endWith(encodeRefuse(error));
  }

  /** Sends a last frame and hangs up. */
  endWith(frame: Uint8Array): void {
    if (this.isClosed) return;
    this.#write(frame);
    this.#isEnding = true;
    this.#endIfSent();
    // One that neither reads nor hangs up would hold a descriptor for as long as it lives.
    this.closeAtMs = this.#clock.monotonicMs() + farewellMs;
    this.leave();
  }

  close(): void {
    this.#socket.terminate();
    this.leave();
  }

  /** The kernel takes more. */
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
        // What came in the same breath as the last frame is for nobody.
        if (this.isClosed) return;
      }
    } catch (thrown) {
      this.refuse(toLeveeError(thrown, "Cannot read from the socket"));
    }
  }

  /** The peer is gone, or is no longer listened to. */
  leave(): void {
    if (this.isClosed) return;
    this.#isClosed = true;
    this.#host.ended(this);
    this.#owner.left?.(peerGone);
    this.#gone?.abort(peerGone);
  }

  /** What is unsent stays in one piece: frames are few and small, and seldom wait at all. */
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
    // A broken connection takes nothing, and its end is told apart.
    else if (taken > 0) this.#unsent = Uint8Array.prototype.slice.call(unsent, taken);
  }

  #endIfSent(): void {
    if (this.#isEnding && this.#unsent === undefined) this.#socket.end();
  }
}
