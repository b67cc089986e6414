import type { ServerResponse } from "node:http";
import type { Cancel, Clock } from "../../base/clock.ts";
import { securityHeaders } from "./security-headers.ts";

/** Proxies cut a stream that says nothing for a minute. */
const heartbeatMs = 15_000;
/** A tab that does not read is cut before its backlog fills our memory. It comes back and gets a fresh snapshot. */
const backlogBytesMax = 33_554_432;

/** One tab's stream of server-sent events. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #stopHeart: Cancel;
  #isOver = false;

  constructor(response: ServerResponse, clock: Clock, onClose: () => void) {
    this.#response = response;
    response.writeHead(200, {
      ...securityHeaders,
      "Content-Type": "text/event-stream; charset=utf-8",
      // Some proxies collect an answer before they pass it on.
      "X-Accel-Buffering": "no",
    });
    this.#stopHeart = clock.every(heartbeatMs, () => this.#write(": alive\n\n"));
    response.on("close", () => {
      this.#stopHeart();
      this.#isOver = true;
      onClose();
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** `data` is JSON, which has no line breaks. */
  send(event: "snapshot" | "change" | "end", id: number, data: string): void {
    this.#write(`event: ${event}\nid: ${id}\ndata: ${data}\n\n`);
  }

  end(): void {
    this.#stopHeart();
    this.#isOver = true;
    this.#response.end();
  }

  #write(text: string): void {
    if (this.#isOver) return;
    this.#response.write(text);
    if (this.#response.writableLength > backlogBytesMax) this.#response.destroy();
  }
}
