import type { AnswerHead } from "./answer-parser.ts";

/** So much of a body may wait for its reader; then the server waits. */
const waitingBytesMax = 1_048_576;

/** Where the bytes of an answer come from. */
export interface AnswerFlow {
  pause(): void;
  resume(): void;
  /** Nobody wants the rest. */
  cut(): void;
}

export class AnswerTooLarge extends Error {}

/** An answer whose head is there. Its body comes as it is read, under the signal of the request. */
export class Answer {
  readonly head: AnswerHead;
  readonly #flow: AnswerFlow;
  #parts: Buffer[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isWhole = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(head: AnswerHead, flow: AnswerFlow) {
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
        throw new AnswerTooLarge(`the answer has more than the ${bytesMax} bytes it may have`);
      }
      if (this.#isEnded()) break;
      await this.#more();
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only.toString("utf8") : Buffer.concat(parts).toString("utf8");
  }

  /** The body as it comes. Leaving early cuts the connection. */
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

  /** The body is whole, or failed and will never be. */
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
