import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../policy-server.ts";

/** The line between a daemon and the API server: it can be slow, and it can be cut. */
export class Line {
  readonly port: number;
  /** On the way there: what a far server's round trip adds. */
  delayMs = 0;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  private constructor(port: number, target: number) {
    this.port = port;
    this.#target = target;
  }

  static async lay(target: number): Promise<Line> {
    const line = new Line(await freePort(), target);
    await line.mend();
    return line;
  }

  /** Ends every connection, and takes no new one. */
  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  }

  async mend(): Promise<void> {
    const server = createServer((socket) => this.#join(socket));
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: this.port }, resolve));
    this.#server = server;
  }

  #join(near: Socket): void {
    const far = connect({ host: "127.0.0.1", port: this.#target });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    // Pieces stay in order: each waits for the same time, and timers of one length fire in their order.
    near.on("data", (chunk: Buffer) => setTimeout(() => far.write(chunk), this.delayMs));
    far.on("data", (chunk: Buffer) => near.write(chunk));
  }
}
