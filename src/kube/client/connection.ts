import type { KubeTls } from "../access/access.ts";
import { HttpResponse, type ResponseFlow } from "./http-response.ts";
import { ResponseParser, type ResponseHead, type ResponseSink } from "./response-parser.ts";

export interface ServerAddress {
  readonly hostname: string;
  readonly port: number;
}

export interface ApiConnectionOwner {
  /** The connection can take another request. */
  onFree(connection: Connection): void;
  onGone(connection: Connection): void;
}

type Socket = Bun.Socket<Connection>;

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** One connection to the API server, for one request at a time. Uses Bun's own sockets: see ADR 0024. */
export class Connection implements ResponseSink, ResponseFlow {
  readonly #owner: ApiConnectionOwner;
  #socket: Socket | undefined;
  #opening: Waiting<void> | undefined;
  #asked: Waiting<HttpResponse> | undefined;
  #response: HttpResponse | undefined;
  #parser: ResponseParser | undefined;
  /** Bytes that the kernel has not taken yet. */
  #unsent: Buffer | undefined;
  #isTls = false;
  /** The kubeconfig accepts any certificate. */
  #isUnverified = false;
  #isGone = false;
  /** It has carried a request before, so the server may have closed it before the next request arrived. */
  hasServed = false;
  /** Called when the answer is complete, or never will be. */
  onSettled: (() => void) | undefined;

  constructor(owner: ApiConnectionOwner) {
    this.#owner = owner;
  }

  /** Connects and does the TLS handshake; `cut` ends both. */
  open(address: ServerAddress, tls: KubeTls | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject };
      this.#isTls = tls !== undefined;
      this.#isUnverified = tls?.rejectUnauthorized === false;
      try {
        const options = { ...address, data: this, socket: handlers };
        const connecting = tls === undefined ? Bun.connect(options) : Bun.connect({ ...options, tls: tlsOf(tls) });
        connecting.catch((thrown: unknown) => this.gone(asError(thrown)));
      } catch (thrown) {
        // A certificate cannot be read.
        this.gone(asError(thrown));
      }
    });
  }

  /** Sends a whole request and resolves with the head of its answer. */
  ask(request: string): Promise<HttpResponse> {
    if (this.#isGone) return Promise.reject(closedEarly());
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      this.#parser = new ResponseParser(this);
      const sentBytes = this.#socket?.write(request) ?? 0;
      // Nearly all requests are ASCII and are written whole.
      if (sentBytes !== request.length) this.#keepUnsent(Buffer.from(request, "utf8"), sentBytes);
    });
  }

  cut(): void {
    this.gone(new Error("the connection was closed"));
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.#isGone) this.#socket?.resume();
  }

  onHead(head: ResponseHead): void {
    this.#response = new HttpResponse(head, this);
    this.#asked?.resolve(this.#response);
    this.#asked = undefined;
  }

  onPart(part: Buffer): void {
    this.#response?.add(part);
  }

  connected(socket: Socket): void {
    this.#socket = socket;
    if (this.#isGone) socket.terminate();
    // With TLS the connection is ready only after the handshake.
    else if (!this.#isTls) this.ready();
  }

  /**
   * With `rejectUnauthorized: false`, Bun reports a server named by its address as trusted, and one with a host name as not
   * trusted. In both cases `error` says what is wrong with the certificate. Without `error` the handshake failed.
   */
  shaken(isTrusted: boolean, error: Error | null): void {
    if (isTrusted || (this.#isUnverified && error !== null)) this.ready();
    else this.gone(error ?? new Error("the TLS handshake failed"));
  }

  ready(): void {
    this.#opening?.resolve();
    this.#opening = undefined;
  }

  takeBytes(bytes: Buffer): void {
    if (this.#isGone) return;
    if (this.#parser === undefined) {
      this.gone(new Error("the server sent data without a request"));
      return;
    }
    try {
      this.#parser.push(bytes);
    } catch (thrown) {
      this.gone(asError(thrown));
      return;
    }
    if (this.#parser.isWhole) this.#finish(this.#parser.isReusable && this.#unsent === undefined);
  }

  sendMore(): void {
    if (this.#unsent !== undefined) this.#keepUnsent(this.#unsent, this.#socket?.write(this.#unsent) ?? 0);
  }

  /** The server has closed its side. */
  ended(): void {
    this.#parser?.end();
    if (this.#parser?.isWhole === true) this.#finish(false);
    this.gone(closedEarly());
  }

  gone(error: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#socket?.terminate();
    this.#opening?.reject(error);
    this.#asked?.reject(error);
    this.#response?.end(error);
    this.#forget();
    this.#owner.onGone(this);
  }

  #finish(isReusable: boolean): void {
    const response = this.#response;
    this.#forget();
    this.hasServed = true;
    response?.end();
    if (!isReusable) this.cut();
    else {
      // The reader may have paused the socket.
      this.#socket?.resume();
      this.#owner.onFree(this);
    }
  }

  #forget(): void {
    this.#opening = undefined;
    this.#asked = undefined;
    this.#response = undefined;
    this.#parser = undefined;
    this.#unsent = undefined;
    this.onSettled?.();
    this.onSettled = undefined;
  }

  #keepUnsent(bytes: Buffer, sentBytes: number): void {
    const rest = bytes.subarray(Math.max(sentBytes, 0));
    this.#unsent = rest.length === 0 ? undefined : rest;
  }
}

/** Shared by all connections. */
const handlers: Bun.SocketHandler<Connection> = {
  binaryType: "buffer",
  open: (socket) => socket.data.connected(socket),
  handshake: (socket, isTrusted, error) => socket.data.shaken(isTrusted, error),
  data: (socket, bytes) => socket.data.takeBytes(bytes),
  drain: (socket) => socket.data.sendMore(),
  end: (socket) => socket.data.ended(),
  close: (socket, error) => socket.data.gone(error ?? closedEarly()),
  error: (socket, error) => socket.data.gone(error),
  // The promise of `Bun.connect` rejects with the error.
  connectError: () => undefined,
};

function tlsOf({ servername, rejectUnauthorized = true, ...tls }: KubeTls): Bun.TLSOptions {
  return { ...tls, rejectUnauthorized, ...(servername === undefined ? {} : { serverName: servername }) };
}

function closedEarly(): Error {
  return Object.assign(new Error("the server closed the connection before its answer was complete"), {
    code: "ECONNRESET",
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
