import type { KubeTls } from "../access/access.ts";
import { Answer, type AnswerFlow } from "./answer.ts";
import { AnswerParser, type AnswerHead, type AnswerSink } from "./answer-parser.ts";

export interface ServerAddress {
  readonly hostname: string;
  readonly port: number;
}

export interface ConnectionOwner {
  /** It can take another request. */
  onFree(connection: Connection): void;
  onGone(connection: Connection): void;
}

type Socket = Bun.Socket<Connection>;

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** One connection to the API server, which carries one request at a time. On Bun's own sockets: see ADR 0024. */
export class Connection implements AnswerSink, AnswerFlow {
  readonly #owner: ConnectionOwner;
  #socket: Socket | undefined;
  #opening: Waiting<void> | undefined;
  #asked: Waiting<Answer> | undefined;
  #answer: Answer | undefined;
  #parser: AnswerParser | undefined;
  /** What the kernel has not taken yet. */
  #unsent: Buffer | undefined;
  #isTls = false;
  /** Somebody has said that any certificate will do. */
  #isUnverified = false;
  #isGone = false;
  /** It has served before: the server may have closed it without having seen the next request. */
  hasServed = false;
  /** Called once the request has its whole answer or will never have it. */
  onSettled: (() => void) | undefined;

  constructor(owner: ConnectionOwner) {
    this.#owner = owner;
  }

  /** Connects and shakes hands; `cut` ends that too. */
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
        // A certificate that cannot be read.
        this.gone(asError(thrown));
      }
    });
  }

  /** Sends a whole request and resolves with the head of its answer. */
  ask(request: string): Promise<Answer> {
    if (this.#isGone) return Promise.reject(closedEarly());
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      this.#parser = new AnswerParser(this);
      const sentBytes = this.#socket?.write(request) ?? 0;
      // Texts of one byte a character and no remainder are by far the most.
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

  onHead(head: AnswerHead): void {
    this.#answer = new Answer(head, this);
    this.#asked?.resolve(this.#answer);
    this.#asked = undefined;
  }

  onPart(part: Buffer): void {
    this.#answer?.add(part);
  }

  connected(socket: Socket): void {
    this.#socket = socket;
    if (this.#isGone) socket.terminate();
    // With TLS nothing may be sent yet: the handshake says when.
    else if (!this.#isTls) this.ready();
  }

  /**
   * With `rejectUnauthorized: false` Bun says that all is well of a server that is named by its address, and the contrary of
   * one that has a name; in both cases with what is wrong with the certificate. Without such an error the handshake failed.
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
      this.gone(new Error("the server spoke without being asked"));
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

  /** The server sends nothing more. */
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
    this.#answer?.end(error);
    this.#forget();
    this.#owner.onGone(this);
  }

  #finish(isReusable: boolean): void {
    const answer = this.#answer;
    this.#forget();
    this.hasServed = true;
    answer?.end();
    if (!isReusable) this.cut();
    else {
      // The reader may have been slower than the server.
      this.#socket?.resume();
      this.#owner.onFree(this);
    }
  }

  #forget(): void {
    this.#opening = undefined;
    this.#asked = undefined;
    this.#answer = undefined;
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

/** One set for all connections. */
const handlers: Bun.SocketHandler<Connection> = {
  binaryType: "buffer",
  open: (socket) => socket.data.connected(socket),
  handshake: (socket, isTrusted, error) => socket.data.shaken(isTrusted, error),
  data: (socket, bytes) => socket.data.takeBytes(bytes),
  drain: (socket) => socket.data.sendMore(),
  end: (socket) => socket.data.ended(),
  close: (socket, error) => socket.data.gone(error ?? closedEarly()),
  error: (socket, error) => socket.data.gone(error),
  // The promise of `Bun.connect` tells it.
  connectError: () => undefined,
};

function tlsOf({ servername, rejectUnauthorized = true, ...tls }: KubeTls): Bun.TLSOptions {
  return { ...tls, rejectUnauthorized, ...(servername === undefined ? {} : { serverName: servername }) };
}

function closedEarly(): Error {
  return Object.assign(new Error("the server closed the connection before its answer was whole"), {
    code: "ECONNRESET",
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
