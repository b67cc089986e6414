import { connect, type ClientHttp2Session } from "node:http2";
import { createConnection } from "node:net";
import { containerdSocket } from "../node/containerd.ts";
import { pause } from "../until.ts";

/** An empty message of gRPC: not compressed, no bytes. */
const emptyMessage = Buffer.alloc(5);
const everyMs = 250;

/** Asks the runtime for its status all the time, as the kubelet does, and keeps how long each answer took. */
export class CriStatusWatch implements Disposable {
  readonly #session: ClientHttp2Session = connect("http://localhost", {
    createConnection: () => createConnection(containerdSocket),
  });
  #isOver = false;
  #longestMs = 0;
  #askedMs: number | undefined;
  #trouble: unknown;

  static begin(): CriStatusWatch {
    const watch = new CriStatusWatch();
    watch.#run().catch((thrown: unknown) => {
      watch.#trouble = thrown;
    });
    return watch;
  }

  get longestMs(): number {
    if (this.#trouble !== undefined) throw new Error("The runtime's status cannot be asked", { cause: this.#trouble });
    // The last question may still wait for its answer.
    return Math.max(this.#longestMs, this.#askedMs === undefined ? 0 : performance.now() - this.#askedMs);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#session.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.#askedMs = performance.now();
      await this.#ask();
      this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#askedMs);
      this.#askedMs = undefined;
      await pause(everyMs);
    }
  }

  #ask(): Promise<void> {
    const request = this.#session.request({
      ":method": "POST",
      ":path": "/runtime.v1.RuntimeService/Status",
      "content-type": "application/grpc",
      "te": "trailers",
    });
    return new Promise((resolve, reject) => {
      let bytes = 0;
      request.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.on("end", () => (bytes > 0 ? resolve() : reject(new Error("The answer is empty"))));
      request.on("error", (error) => (this.#isOver ? resolve() : reject(error)));
      request.end(emptyMessage);
    });
  }
}
