import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { protocolVersion } from "../../src/wire/frame.ts";
import type { Side, Transcript, TranscriptEvent } from "./transcript.ts";

/** Stands between shim and daemon, passes everything on unchanged and writes it down frame by frame. */
export class RecordingProxy {
  readonly folder: string;
  readonly #daemonSocketDir: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #events: TranscriptEvent[] = [];
  #connections = 0;

  private constructor(folder: string, daemonSocketDir: string, server: Server) {
    this.folder = folder;
    this.#daemonSocketDir = daemonSocketDir;
    this.#server = server;
    server.on("connection", (shim) => this.#join(shim));
  }

  static async listen(folder: string, daemonSocketDir: string): Promise<RecordingProxy> {
    mkdirSync(folder, { mode: 0o700 });
    const server = createServer();
    const proxy = new RecordingProxy(folder, daemonSocketDir, server);
    server.listen(join(folder, "levee.sock"));
    await once(server, "listening");
    return proxy;
  }

  /** The frames since the last call. */
  take(about: string, software: string): Transcript {
    const events = this.#events;
    this.#events = [];
    this.#connections = 0;
    return { protocol: protocolVersion, software, about, events };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #join(shim: Socket): void {
    const daemon = connect(join(this.#daemonSocketDir, "levee.sock"));
    shim.pause();
    // Without a daemon the shim is sent away and nothing is recorded: there was no conversation.
    daemon.once("error", () => shim.destroy());
    daemon.once("connect", () => {
      const number = this.#connections;
      this.#connections += 1;
      this.#pass(shim, daemon, { connection: number, from: "shim" });
      this.#pass(daemon, shim, { connection: number, from: "daemon" });
      shim.resume();
    });
  }

  #pass(source: Socket, target: Socket, label: { connection: number; from: Side }): void {
    this.#sockets.add(source);
    let held = Buffer.alloc(0);
    source.on("data", (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 4 && held.length >= 4 + held.readUInt32LE(0)) {
        const end = 4 + held.readUInt32LE(0);
        this.#events.push({ ...label, frame: held.subarray(0, end).toString("base64") });
        held = Buffer.from(held.subarray(end));
      }
      target.write(chunk);
    });
    source.on("error", () => undefined);
    source.on("close", () => {
      this.#sockets.delete(source);
      if (!target.destroyed) {
        this.#events.push(label);
        target.end();
        setTimeout(() => target.destroy(), 50);
      }
    });
  }
}
