import type { Cancel, Clock } from "../../base/clock.ts";

export interface HttpRequest {
  readonly method: "GET" | "HEAD";
  readonly path: string;
  readonly query: ReadonlySet<string>;
}

export interface HttpAnswer {
  readonly status: 200 | 404 | 500 | 503;
  readonly contentType: string;
  readonly body: string;
}

interface HttpOptions {
  readonly clock: Clock;
  /** Rejects never. */
  readonly answer: (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
  /** Called for requests that never reach `answer`. */
  readonly onRefused: (status: number) => void;
}

/** A probe's head takes a few hundred bytes, a scrape's with a token a few thousand. */
const headBytesMax = 8_192;
/** A peer that takes longer than this from connect to close is not reading. */
const exchangeMsMax = 10_000;

const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** A peer's socket; its `data` is the exchange itself. */
type HttpSocket = Bun.Socket<HttpExchange | undefined>;

/**
 * Serves one request and hangs up. It speaks only the part of HTTP that kubelet and Prometheus use: it keeps nothing
 * between requests, reads no body, and holds at most one head in memory per peer.
 */
export class HttpExchange {
  readonly #socket: HttpSocket;
  readonly #options: HttpOptions;
  readonly #stopTimer: Cancel;
  #head: Buffer = Buffer.alloc(0);
  /** The part of the answer that the kernel has not taken yet; undefined before the answer. */
  #unsent: Buffer | undefined;
  #isAnswering = false;
  #isClosed = false;

  constructor(socket: HttpSocket, options: HttpOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#stopTimer = options.clock.after(exchangeMsMax, () => this.cut());
  }

  /** Bytes after the head are read and dropped: closing with unread bytes would reset the connection and lose the answer. */
  receive(chunk: Buffer): void {
    if (this.#isAnswering) return;
    this.#head = Buffer.concat([this.#head, chunk.subarray(0, headBytesMax + 1 - this.#head.length)]);
    const end = this.#head.indexOf("\r\n\r\n");
    if (end === -1 && this.#head.length <= headBytesMax) return;
    this.#isAnswering = true;
    const answer =
      end === -1 ? refusal(431, this.#options) : respond(this.#head.toString("latin1", 0, end), this.#options);
    if (typeof answer === "string") this.#send(answer);
    else void answer.then((text) => this.#send(text));
  }

  /** The peer may have gone while the answer was looked for. */
  #send(answer: string): void {
    if (this.#isClosed) return;
    this.#unsent = Buffer.from(answer);
    this.drain();
  }

  /** Sends the rest, and hangs up once the kernel has everything. */
  drain(): void {
    if (this.#unsent === undefined) return;
    if (this.#unsent.length > 0) this.#unsent = this.#unsent.subarray(Math.max(this.#socket.write(this.#unsent), 0));
    if (this.#unsent.length === 0) this.#socket.end();
  }

  cut(): void {
    this.#stopTimer();
    this.#socket.terminate();
  }

  closed(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }
}

function respond(head: string, options: HttpOptions): string | Promise<string> {
  const [line = ""] = head.split("\r\n", 1);
  const match = /^(\S+) (\/\S*) HTTP\/1\.[01]$/u.exec(line);
  if (match === null) return refusal(400, options);
  const [, method = "", target = ""] = match;
  if (method !== "GET" && method !== "HEAD") return refusal(405, options);
  const [path = "", query = ""] = target.split("?", 2);
  const names = query.split("&").map((pair) => pair.split("=", 1)[0] ?? "");
  const answer = options.answer({ method, path, query: new Set(names) });
  return "then" in answer ? answer.then((later) => printed(method, later)) : printed(method, answer);
}

function refusal(status: 400 | 405 | 431, options: HttpOptions): string {
  options.onRefused(status);
  const allow = status === 405 ? "Allow: GET, HEAD\r\n" : "";
  return `${headOf(status, "text/plain; charset=utf-8", 0)}${allow}\r\n`;
}

function printed(method: string, answer: HttpAnswer): string {
  const head = headOf(answer.status, answer.contentType, Buffer.byteLength(answer.body));
  return `${head}\r\n${method === "HEAD" ? "" : answer.body}`;
}

function headOf(status: number, contentType: string, length: number): string {
  return [
    `HTTP/1.1 ${status} ${reasons[status] ?? ""}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${length}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
    "",
  ].join("\r\n");
}
