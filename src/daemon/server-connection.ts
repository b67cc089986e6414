import type { Socket } from "node:net";
import { LeveeError, toLeveeError } from "../base/errors.ts";
import type { HandChannel } from "../hands/hand.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import type { Frame } from "../wire/frame.ts";
import { encodeRefuse } from "../wire/messages.ts";

/** One peer on the socket: frames in, frames out, and a signal that says when it has gone. */
export class ServerConnection implements HandChannel {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #gone = new AbortController();
  #onFrame: (frame: Frame) => void;

  constructor(socket: Socket, onFirstFrame: (frame: Frame) => void) {
    this.#socket = socket;
    this.#onFrame = onFirstFrame;
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
    if (!this.#gone.signal.aborted) this.#socket.write(frame);
  }

  /** Says why and hangs up. */
  refuse(error: LeveeError): void {
    if (this.#gone.signal.aborted) return;
    this.#socket.end(encodeRefuse(error));
    this.#leave();
  }

  /** Sends a last frame and hangs up. */
  endWith(frame: Uint8Array): void {
    if (!this.#gone.signal.aborted) this.#socket.end(frame);
    this.#leave();
  }

  close(): void {
    this.#socket.destroy();
    this.#leave();
  }

  #receive(chunk: Buffer): void {
    if (this.#gone.signal.aborted) return;
    try {
      for (const frame of this.#reader.push(chunk)) this.#onFrame(frame);
    } catch (thrown) {
      this.refuse(toLeveeError(thrown, "Cannot read from the socket"));
    }
  }

  #leave(): void {
    if (!this.#gone.signal.aborted) this.#gone.abort(new LeveeError("hand-lost", "The peer closed the connection"));
  }
}
