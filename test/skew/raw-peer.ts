import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { FrameReader } from "../../src/wire/frame-reader.ts";
import type { Frame } from "../../src/wire/frame.ts";

/** Longer than anything the daemon may take for an answer in these tests. */
const patienceMs = 10_000;

/** A connection to the daemon that says what it is told to, right or wrong, and keeps what it hears. */
export class RawPeer {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #frames: Frame[] = [];
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#frames.push(...this.#reader.push(chunk));
      this.#wake();
    });
    socket.on("error", () => this.#close());
    socket.on("close", () => this.#close());
  }

  /** Tries again while the daemon's list of those who knock is full, as shims do. */
  static async connect(socketDir: string): Promise<RawPeer> {
    const endsMs = performance.now() + patienceMs;
    for (;;) {
      try {
        const socket = connect(join(socketDir, "levee.sock"));
        await once(socket, "connect");
        return new RawPeer(socket);
      } catch (thrown) {
        if (performance.now() > endsMs) throw thrown;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(bytes: Uint8Array): void {
    if (!this.#isClosed) this.#socket.write(bytes);
  }

  /** No more from this side; the daemon reads that as a cancel. */
  end(): void {
    this.#socket.end();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** Stops reading, as a peer that hangs. */
  pause(): void {
    this.#socket.pause();
  }

  /** The next frame other than HEARTBEAT, or undefined at the end of the connection. */
  async next(waitMs = patienceMs): Promise<Frame | undefined> {
    const endsMs = performance.now() + waitMs;
    for (;;) {
      const frame = this.#frames.shift();
      if (frame?.type === "HEARTBEAT") continue;
      if (frame !== undefined || this.#isClosed) return frame;
      if (performance.now() > endsMs)
        throw new Error(`The daemon neither said anything nor hung up within ${waitMs} ms`);
      await this.#somethingHappens();
    }
  }

  /** All frames that come until the daemon hangs up. */
  async rest(): Promise<readonly Frame[]> {
    const frames: Frame[] = [];
    for (let frame = await this.next(); frame !== undefined; frame = await this.next()) frames.push(frame);
    return frames;
  }

  #somethingHappens(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 250);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #close(): void {
    this.#isClosed = true;
    this.#wake();
  }
}
