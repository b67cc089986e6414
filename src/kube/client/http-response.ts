import type { ResponseHead } from "./response-parser.ts";

/** How much of a body may wait for its reader before the server has to wait. */
const waitingBytesMax = 1_048_576;

/** Where the bytes of an answer come from. */
export interface ResponseFlow {
  pause(): void;
  resume(): void;
  /** The rest is not wanted. */
  cut(): void;
}

export class ResponseTooLarge extends Error {}

/** An answer whose head has come. The body comes as it is read, under the signal of the request. */
export class HttpResponse {
  readonly head: ResponseHead;
  readonly #flow: ResponseFlow;
  #parts: Buffer[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isWhole = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(head: ResponseHead, flow: ResponseFlow) {
    this.head = head;
    this.#flow = flow;
  }

  async text(bytesMax: number): Promise<string> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      for (const part of this.#takeAll()) {
        bytes += part.length;
        parts.push(part);
      }
      if (bytes > bytesMax) {
        this.#leave();
        throw new ResponseTooLarge(`the answer has more than ${bytesMax} bytes`);
      }
      if (this.#isEnded()) break;
      await this.#more();
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only.toString("utf8") : Buffer.concat(parts).toString("utf8");
  }

  /** Yields the body as it comes. Leaving early cuts the connection. */
  async *parts(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        yield* this.#takeAll();
        if (this.#isEnded()) return;
        await this.#more();
      }
    } finally {
      this.#leave();
    }
  }

  add(part: Buffer): void {
    this.#parts.push(part);
    this.#waitingBytes += part.length;
    if (this.#waitingBytes > waitingBytesMax && !this.#isPaused) {
      this.#isPaused = true;
      this.#flow.pause();
    }
    this.#wake?.();
  }

  /** The body is complete, or will never be because of the failure. */
  end(failure?: Error): void {
    if (failure === undefined) this.#isWhole = true;
    else this.#failure = failure;
    this.#wake?.();
  }

  #takeAll(): Buffer[] {
    const parts = this.#parts;
    this.#parts = [];
    this.#waitingBytes = 0;
    return parts;
  }

  #isEnded(): boolean {
    if (this.#parts.length > 0) return false;
    if (this.#failure !== undefined) throw this.#failure;
    return this.#isWhole;
  }

  #more(): Promise<void> {
    if (this.#parts.length > 0) return Promise.resolve();
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#flow.resume();
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #leave(): void {
    if (!this.#isWhole && this.#failure === undefined) this.#flow.cut();
  }
}
