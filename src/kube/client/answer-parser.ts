/** Far more than a head of the API server has, which is below 1 KiB; a proxy's cookies fit as well. */
const headBytesMax = 65_536;
/** The size of a chunk and what may stand behind it. */
const lineBytesMax = 4_096;
/** More digits than any answer's length has, and still an exact number. */
const lengthPattern = /^\d{1,15}$/u;
const chunkSizePattern = /^([\da-f]{1,12})[ \t]*(?:;.*)?$/iu;

export interface AnswerHead {
  readonly status: number;
  /** As it was sent; undefined when it was not. */
  readonly retryAfter: string | undefined;
}

export interface AnswerSink {
  onHead(head: AnswerHead): void;
  onPart(part: Buffer): void;
}

type Step = "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailer" | "until-closed" | "whole";

/** Reads one answer of HTTP/1.1 out of a stream of bytes, however it is cut. Throws at what is none. */
export class AnswerParser {
  readonly #sink: AnswerSink;
  #step: Step = "head";
  /** Bytes of a head or line whose end is not there yet. */
  #held: Buffer | undefined;
  /** Of the body, or of the present chunk. */
  #leftBytes = 0;
  #trailerBytes = 0;
  #isReusable = true;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  get isWhole(): boolean {
    return this.#step === "whole";
  }

  /** The connection may carry another request when the answer is whole. */
  get isReusable(): boolean {
    return this.#isReusable;
  }

  push(bytes: Buffer): void {
    let rest: Buffer | undefined = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = undefined;
    while (rest !== undefined && rest.length > 0) {
      if (this.#step === "whole") {
        // Nothing was asked to which this could be the answer: server and we are out of step.
        this.#isReusable = false;
        return;
      }
      rest = this.#take(rest);
    }
  }

  /** The server has said all it will: the end of an answer that has no length, and of no other. */
  end(): void {
    if (this.#step === "until-closed") this.#step = "whole";
  }

  /** Returns what is left, or undefined when more is needed first. */
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
    // Some load balancers say in HTTP/1.0 that no server is there, and keep nothing open.
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
      if (line !== "") throw new Error("a chunk of the answer is longer than it said");
      this.#step = "chunk-size";
    } else if (this.#step === "chunk-size") {
      const size = chunkSizePattern.exec(line)?.[1];
      if (size === undefined) throw new Error(`the answer has ${quoted(line)} in the place of a chunk's size`);
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

/** By its length alone most of the others are passed over. */
const fieldLengths: ReadonlySet<number> = new Set(Object.keys(fieldNames).map((name) => name.length));

function statusOf(line: string): number {
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/u.exec(line)?.[1];
  if (status === undefined) throw new Error(`the answer begins with ${quoted(line)}, which is no HTTP/1`);
  if (status === "101" || status < "100")
    throw new Error(`the answer has the status ${status}, which nobody asked for`);
  return Number(status);
}

function fieldsOf(lines: readonly string[]): Fields {
  const fields: Fields = {};
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const colon = line.indexOf(":");
    if (colon <= 0) throw new Error(`the answer has ${quoted(line)} in the place of a header field`);
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

/** A hostile line may be long and have anything in it. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
