import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { version } from "../base/version.ts";
import type { KubeCredentials, KubeTls } from "./access.ts";
import type { KubeRequest } from "./api.ts";

/** Two watches, and what is asked and patched meanwhile; more would only wait for the server. */
const socketsMax = 16;
/** Kept open between requests: an ADD patches once, so few are needed at a time. */
const idleSocketsMax = 4;

/** An answer whose head is there. The body is read by the caller, under the same signal. */
export interface Answer {
  readonly response: IncomingMessage;
  readonly isReusedSocket: boolean;
}

/** A request failed before it was answered. */
export class ExchangeFailure extends Error {
  /** The connection had served before: the server may have closed it just now, without having seen this request. */
  readonly isReusedSocket: boolean;

  constructor(cause: Error, isReusedSocket: boolean) {
    super(cause.message, { cause });
    this.isReusedSocket = isReusedSocket;
  }
}

/** The connections to one server. They are made anew whenever its trust or our certificate changes. */
export class Exchange {
  readonly #server: URL;
  #tls: KubeTls | undefined;
  #agent: HttpAgent | undefined;

  constructor(server: string) {
    this.#server = new URL(server);
  }

  /** Sends a request and resolves with the head of its answer. The signal covers connecting, the head and the body. */
  send(request: SentRequest, credentials: KubeCredentials, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = this.#start(request, credentials);
      const onAbort = (): void => void sent.destroy();
      // Stays for the life of the request: a socket may fail once more after its answer has begun.
      sent.on("error", (error) => reject(new ExchangeFailure(error, sent.reusedSocket)));
      sent.on("close", () => {
        signal.removeEventListener("abort", onAbort);
        reject(new ExchangeFailure(new Error("the connection was closed"), sent.reusedSocket));
      });
      sent.on("response", (response) => {
        // Whoever reads the body sees its errors; one that comes when nobody reads any more must not end the process.
        response.on("error", () => undefined);
        resolve({ response, isReusedSocket: sent.reusedSocket });
      });
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      sent.end(request.body);
    });
  }

  /** Closes connections that serve nobody now: when one of them has turned out dead, the others are no better. */
  dropIdle(): void {
    for (const sockets of Object.values(this.#agent?.freeSockets ?? {}))
      for (const socket of [...(sockets ?? [])]) socket.destroy();
  }

  close(): void {
    this.#agent?.destroy();
  }

  #start(request: SentRequest, { token, tls }: KubeCredentials): ClientRequest {
    const { hostname, port, protocol, pathname } = this.#server;
    const isPlain = protocol === "http:";
    return (isPlain ? httpRequest : httpsRequest)({
      // An IPv6 address has brackets in an URL and none for the resolver.
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? (isPlain ? 80 : 443) : port,
      path: `${pathname.replace(/\/+$/, "")}${request.path}`,
      method: request.method,
      headers: headersOf(request, token),
      agent: this.#agentFor(tls, isPlain),
    });
  }

  #agentFor(tls: KubeTls, isPlain: boolean): HttpAgent {
    if (this.#agent !== undefined && this.#tls === tls) return this.#agent;
    // What hangs on the old trust is cut, watches included: they resume over the new one.
    this.#agent?.destroy();
    this.#tls = tls;
    const limits = { keepAlive: true, maxSockets: socketsMax, maxFreeSockets: idleSocketsMax };
    this.#agent = isPlain ? new HttpAgent(limits) : new HttpsAgent({ ...limits, ...tls });
    return this.#agent;
  }
}

export type SentRequest = Pick<KubeRequest, "method" | "path" | "body" | "contentType">;

function headersOf({ body, contentType }: SentRequest, token: string | undefined): Record<string, string> {
  return {
    "Accept": "application/json",
    "User-Agent": `levee/${version}`,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined
      ? {}
      : {
          "Content-Type": contentType ?? "application/json",
          "Content-Length": String(Buffer.byteLength(body)),
        }),
  };
}
