import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { FrameReader } from "../../src/wire/frame-reader.ts";
import { encodeFrame, numberField, type Frame, type OutgoingField } from "../../src/wire/frame.ts";
import type { FrameTypeName } from "../../src/wire/frame-type.ts";
import { encodeWelcome } from "../../src/wire/messages.ts";

/** A frame that does not come within this time fails the test with a message of its own. */
const patienceMs = 4_000;

export const token = Uint8Array.from([...Array(16).keys()]);

/** A daemon that does exactly what a test says, on the real socket and with the real frames. */
export class ScriptedDaemon {
  readonly #server: Server;
  readonly #waiting: Peer[] = [];
  readonly #open = new Set<Peer>();
  #wanted: ((peer: Peer) => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#admit(new Peer(socket)));
  }

  static async listen(socketDir: string): Promise<ScriptedDaemon> {
    const server = createServer();
    const daemon = new ScriptedDaemon(server);
    server.listen(join(socketDir, "levee.sock"));
    await once(server, "listening");
    return daemon;
  }

  /** The next shim that connects. */
  accept(): Promise<Peer> {
    const peer = this.#waiting.shift();
    if (peer !== undefined) return Promise.resolve(peer);
    const connected = new Promise<Peer>((resolve) => {
      this.#wanted = resolve;
    });
    return withPatience(connected, "a connection");
  }

  /** Stops listening and drops every connection, as a killed daemon does. */
  async kill(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const peer of this.#open) peer.destroy();
    await closed;
  }

  #admit(peer: Peer): void {
    this.#open.add(peer);
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === undefined) this.#waiting.push(peer);
    else wanted(peer);
  }
}

/** One connected hand, seen from the daemon. */
export class Peer {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #frames: Frame[] = [];
  /** PROGRESS frames of runs. They come at any time, so a test need not expect them. */
  readonly progress: { readonly step: number | undefined; readonly idleMs: number | undefined }[] = [];
  #wanted: (() => void) | undefined;
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      for (const frame of this.#reader.push(chunk)) this.#take(frame);
      this.#wanted?.();
    });
    socket.on("error", () => this.#end());
    socket.on("close", () => this.#end());
  }

  /** The next frame, which must be of this type. */
  async expect(type: FrameTypeName): Promise<Frame> {
    const frame = await withPatience(this.#next(), `a ${type} frame`);
    if (frame === undefined) throw new Error(`Cannot receive a ${type} frame: the shim closed the connection`);
    if (frame.type !== type) throw new Error(`Cannot go on: expected a ${type} frame, received ${frame.type}`);
    return frame;
  }

  /** Resolves when the shim closed the connection without another frame. */
  async expectEnd(): Promise<void> {
    const frame = await withPatience(this.#next(), "the end of the connection");
    if (frame !== undefined) throw new Error(`Cannot go on: expected the end, received ${frame.type}`);
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  order(type: FrameTypeName, fields: readonly OutgoingField[] = []): void {
    this.send(encodeFrame(type, fields));
  }

  welcome(heartbeatMs = 1_000, name: Uint8Array = token, version?: number): void {
    this.send(encodeWelcome(name, heartbeatMs, "scripted", version));
  }

  /** CALL, WELCOME, GO, CONFIG: everything up to the first order. */
  async begin(heartbeatMs = 60_000, version?: number): Promise<Frame> {
    const call = await this.expect("CALL");
    this.welcome(heartbeatMs, token, version);
    this.order("GO");
    await this.expect("CONFIG");
    return call;
  }

  /** FINISH, ACK, BYE: everything after the last outcome. */
  async finish(exitCode = 0, output = ""): Promise<Frame> {
    this.order("FINISH", [
      ["exit_code", exitCode],
      ["output", output],
    ]);
    const ack = await this.expect("ACK");
    this.order("BYE");
    return ack;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Stops reading, as a daemon that is stuck. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #take(frame: Frame): void {
    if (frame.type === "PROGRESS")
      this.progress.push({ step: numberField(frame, "step"), idleMs: numberField(frame, "idle_ms") });
    else this.#frames.push(frame);
  }

  #end(): void {
    this.#ended = true;
    this.#wanted?.();
  }

  async #next(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined || this.#ended) return frame;
      await new Promise<void>((resolve) => {
        this.#wanted = resolve;
      });
    }
  }
}

async function withPatience<T>(awaited: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Cannot go on: ${what} did not come within ${patienceMs} ms`)),
      patienceMs,
    );
  });
  try {
    return await Promise.race([awaited, late]);
  } finally {
    clearTimeout(timer);
  }
}
