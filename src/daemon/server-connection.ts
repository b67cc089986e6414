import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { LeveeError, toLeveeError } from "../base/errors.ts";
import type { HandChannel } from "../hands/hand.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import type { Frame } from "../wire/frame.ts";
import { encodeRefuse } from "../wire/messages.ts";

/** A peer that takes nothing of what it is sent holds memory for it; the longest frames and many small ones fit. */
const unsentBytesMax = 4 * 1_048_576;
/** How long a peer may take to hear our last word and hang up too. */
const farewellMs = 1_000;

/** Every connection ends so, and nobody looks at where: one for all of them. */
const peerGone = new LeveeError("hand-lost", "The peer closed the connection");

/** One peer on the socket: frames in, frames out, and a signal that says when it has gone. */
export class ServerConnection implements HandChannel {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  #onFrame: (frame: Frame) => void = () => undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    // The reason of a broken connection does not matter: the peer is gone either way, and `close` always follows.
    socket.on("error", () => this.#leave());
    socket.on("end", () => this.#leave());
    socket.on("close", () => this.#leave());
  }

  get closed(): AbortSignal {
    return this.#gone.signal;
  }

  /** Who takes the frames from here on. */
  handOver(onFrame: (frame: Frame) => void): void {
    this.#onFrame = onFrame;
  }

  send(frame: Uint8Array): void {
    if (this.#gone.signal.aborted) return;
    this.#socket.write(frame);
    if (this.#socket.writableLength > unsentBytesMax) this.close();
  }

  /** Says why and hangs up. */
  refuse(error: LeveeError): void {
    this.endWith(encodeRefuse(error));
  }

  /** Sends a last frame and hangs up. */
  endWith(frame: Uint8Array): void {
    if (this.#gone.signal.aborted) return;
    this.#socket.end(frame);
    // One that neither reads nor hangs up would hold a descriptor for as long as it lives.
    const cancel = this.#clock.after(farewellMs, () => this.#socket.destroy());
    this.#socket.once("close", cancel);
    this.#leave();
  }

  close(): void {
    this.#socket.destroy();
    this.#leave();
  }

  #receive(chunk: Buffer): void {
    if (this.#gone.signal.aborted) return;
    try {
      for (const frame of this.#reader.push(chunk)) {
        this.#onFrame(frame);
        // What came in the same breath as the last frame is for nobody.
        if (this.#gone.signal.aborted) return;
      }
    } catch (thrown) {
      this.refuse(toLeveeError(thrown, "Cannot read from the socket"));
    }
  }

  #leave(): void {
    if (!this.#gone.signal.aborted) this.#gone.abort(peerGone);
  }
}
