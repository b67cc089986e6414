import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";

/** What is asked for: reading only, so a method and a path. */
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

export interface HttpOptions {
  readonly clock: Clock;
  readonly answer: (request: HttpRequest) => HttpAnswer;
  /** Told of what never reached `answer`. */
  readonly onRefused: (status: number) => void;
}

/** A probe's head has some hundred bytes, a scrape's with a token a few thousand. */
const headBytesMax = 8_192;
/** From connecting to hanging up: a peer that takes longer is not reading. */
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

/**
 * Serves one request and hangs up. HTTP in the few words that kubelet and Prometheus use: nothing is kept between
 * requests, a body is never read, and no peer can hold more than a head's worth of memory.
 */
export function serveHttp(socket: Socket, options: HttpOptions): void {
  let head = Buffer.alloc(0);
  const stopTimer = options.clock.after(exchangeMsMax, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("close", stopTimer);
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk.subarray(0, headBytesMax + 1 - head.length)]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1 && head.length <= headBytesMax) return;
    socket.off("data", onData);
    // What else the peer sends is read and dropped: closing on unread bytes would take the answer from it.
    socket.resume();
    socket.end(end === -1 ? refusal(431, options) : respond(head.toString("latin1", 0, end), options));
  };
  socket.on("data", onData);
}

function respond(head: string, options: HttpOptions): string {
  const [line = ""] = head.split("\r\n", 1);
  const match = /^(\S+) (\/\S*) HTTP\/1\.[01]$/u.exec(line);
  if (match === null) return refusal(400, options);
  const [, method = "", target = ""] = match;
  if (method !== "GET" && method !== "HEAD") return refusal(405, options);
  const [path = "", query = ""] = target.split("?", 2);
  const names = query.split("&").map((pair) => pair.split("=", 1)[0] ?? "");
  return printed(method, options.answer({ method, path, query: new Set(names) }));
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
