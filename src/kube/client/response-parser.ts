/** The API server's heads are below 1 KiB. This leaves room for a proxy's cookies. */
const headBytesMax = 65_536;
/** The size of a chunk, and its extensions. */
const lineBytesMax = 4_096;
/** More digits than any length has, and still an exact number. */
const lengthPattern = /^\d{1,15}$/u;
const chunkSizePattern = /^([\da-f]{1,12})[ \t]*(?:;.*)?$/iu;

export interface ResponseHead {
  readonly status: number;
  /** The header as it was sent; undefined when there is none. */
  readonly retryAfter: string | undefined;
}

export interface ResponseSink {
  onHead(head: ResponseHead): void;
  onPart(part: Buffer): void;
}

type Step = "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailer" | "until-closed" | "whole";

/** Reads one HTTP/1.1 answer from a stream of bytes, however the bytes are split. Throws when they are no such answer. */
export class ResponseParser {
  readonly #sink: ResponseSink;
  #step: Step = "head";
  /** Bytes of an unfinished head or line. */
  #held: Buffer | undefined;
  /** Bytes left of the body, or of the present chunk. */
  #leftBytes = 0;
  #trailerBytes = 0;
  #isReusable = true;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  get isWhole(): boolean {
    return this.#step === "whole";
  }

  /** Whether the connection may carry another request after this answer. */
  get isReusable(): boolean {
    return this.#isReusable;
  }

  push(bytes: Buffer): void {
    let rest: Buffer | undefined = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = undefined;
    while (rest !== undefined && rest.length > 0) {
      if (this.#step === "whole") {
        // These bytes answer no request: client and server are out of step.
        this.#isReusable = false;
        return;
      }
      rest = this.#take(rest);
    }
  }

  /** The server has closed its side. That completes an answer without a length, and no other. */
  end(): void {
    if (this.#step === "until-closed") this.#step = "whole";
  }

  /** Returns the remaining bytes, or undefined when it needs more first. */
  #take(bytes: Buffer): Buffer | undefined {
    if (this.#step === "head") return this.#takeHead(bytes);
    if (this.#step === "length" || this.#step === "chunk") return this.#takeCounted(bytes);
    if (this.#step === "until-closed") {
      this.#sink.onPart(bytes);
      return undefined;
    }
    return this.#takeLine(bytes);
  }

  #takeHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf("\r\n\r\n");
    if ((end < 0 ? bytes.length : end) > headBytesMax)
      throw new Error(`the head of the answer has more than ${headBytesMax} bytes`);
    if (end < 0) {
      this.#held = bytes;
      return undefined;
    }
    const lines = bytes.toString("latin1", 0, end).split("\r\n");
    const status = statusOf(lines[0] ?? "");
    // An interim answer; the real one follows.
    if (status >= 200) this.#begin(status, lines);
    return bytes.subarray(end + 4);
  }

  #begin(status: number, lines: readonly string[]): void {
    const fields = fieldsOf(lines);
    const { length, coding, connection } = fields;
    // Some load balancers answer in HTTP/1.0 when no server is there, and close the connection.
    const isOld = lines[0]?.startsWith("HTTP/1.0") === true;
    this.#isReusable = !isOld && (connection === undefined || !/\bclose\b/iu.test(connection));
    this.#step = bodyStep(status, fields);
    if (coding === undefined && length !== undefined) this.#leftBytes = Number(length);
    if (this.#step === "until-closed") this.#isReusable = false;
    if (this.#step === "length" && this.#leftBytes === 0) this.#step = "whole";
    this.#sink.onHead({ status, retryAfter: fields.retryAfter });
  }

  #takeCounted(bytes: Buffer): Buffer {
    const part = bytes.length <= this.#leftBytes ? bytes : bytes.subarray(0, this.#leftBytes);
    this.#leftBytes -= part.length;
    this.#sink.onPart(part);
    if (this.#leftBytes === 0) this.#step = this.#step === "chunk" ? "chunk-end" : "whole";
    return bytes.subarray(part.length);
  }

  #takeLine(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf("\r\n");
    if ((end < 0 ? bytes.length : end) > lineBytesMax)
      throw new Error(`a line between the chunks of the answer has more than ${lineBytesMax} bytes`);
    if (end < 0) {
      this.#held = bytes;
      return undefined;
    }
    this.#readLine(bytes.toString("latin1", 0, end));
    return bytes.subarray(end + 2);
  }

  #readLine(line: string): void {
    if (this.#step === "chunk-end") {
      if (line !== "") throw new Error("a chunk of the answer is longer than its size says");
      this.#step = "chunk-size";
    } else if (this.#step === "chunk-size") {
      const size = chunkSizePattern.exec(line)?.[1];
      if (size === undefined) throw new Error(`the answer has ${quoted(line)} where a chunk size must be`);
      this.#leftBytes = Number.parseInt(size, 16);
      this.#step = this.#leftBytes === 0 ? "trailer" : "chunk";
    } else {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > headBytesMax)
        throw new Error(`the answer's trailer has more than ${headBytesMax} bytes`);
      if (line === "") this.#step = "whole";
    }
  }
}

/** The few header fields that matter here. */
interface Fields {
  length?: string;
  coding?: string;
  connection?: string;
  retryAfter?: string;
}

const fieldNames: Readonly<Record<string, keyof Fields>> = {
  "content-length": "length",
  "transfer-encoding": "coding",
  "connection": "connection",
  "retry-after": "retryAfter",
};

/** The length alone rules out most other fields. */
const fieldLengths: ReadonlySet<number> = new Set(Object.keys(fieldNames).map((name) => name.length));

function statusOf(line: string): number {
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/u.exec(line)?.[1];
  if (status === undefined) throw new Error(`the answer begins with ${quoted(line)}, which is not HTTP/1`);
  if (status === "101" || status < "100") throw new Error(`the answer has the status ${status}, which fits no request`);
  return Number(status);
}

function fieldsOf(lines: readonly string[]): Fields {
  const fields: Fields = {};
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const colon = line.indexOf(":");
    if (colon <= 0) throw new Error(`the answer has ${quoted(line)} where a header field must be`);
    const name = fieldLengths.has(colon) ? fieldNames[line.slice(0, colon).toLowerCase()] : undefined;
    if (name === undefined) continue;
    const value = line.slice(colon + 1).trim();
    if (name === "length" && fields.length !== undefined && fields.length !== value)
      throw new Error("the answer has two lengths");
    fields[name] = value;
  }
  return fields;
}

function bodyStep(status: number, { length, coding }: Fields): Step {
  if (length !== undefined && !lengthPattern.test(length)) throw new Error(`the answer's length is ${quoted(length)}`);
  if (status === 204 || status === 304) return "whole";
  if (coding !== undefined) {
    if (length !== undefined) throw new Error("the answer has a length and chunks");
    if (coding.toLowerCase() !== "chunked") throw new Error(`the answer is coded as ${quoted(coding)}`);
    return "chunk-size";
  }
  return length === undefined ? "until-closed" : "length";
}

/** A hostile line may be long and contain anything. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
