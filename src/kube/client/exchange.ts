import { version } from "../../base/version.ts";
import type { KubeCredentials, KubeTls } from "../access/access.ts";
import type { HttpResponse } from "./http-response.ts";
import type { KubeRequest } from "./api.ts";
import { Connection, type ApiConnectionOwner, type ServerAddress } from "./connection.ts";

/** For requests; each watch has one more. More connections would only wait for the server. */
const socketsMax = 16;
/** How many stay open between requests. An ADD patches once, so few are needed at a time. */
const idleSocketsMax = 4;

/** A request failed before it was answered. */
export class ExchangeFailure extends Error {
  /** The connection had carried a request before, so the server may have closed it before this request arrived. */
  readonly isReusedSocket: boolean;

  constructor(cause: unknown, isReusedSocket: boolean) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.isReusedSocket = isReusedSocket;
  }
}

/**
 * The connections to one server. They are replaced when the trusted authority or the client certificate changes.
 * Speaks only as much HTTP/1.1 as the API server needs: `node:https` takes four times the CPU. See ADR 0024.
 */
export class Exchange implements ApiConnectionOwner {
  readonly #address: ServerAddress;
  readonly #isPlain: boolean;
  readonly #folder: string;
  readonly #host: string;
  #tls: KubeTls | undefined;
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  /** Requests that wait for a connection, oldest first. */
  readonly #waiting = new Set<() => void>();
  #watches = 0;
  #fields: { readonly token: string | undefined; readonly text: string } | undefined;

  constructor(server: string) {
    const { hostname, host, port, protocol, pathname } = new URL(server);
    this.#isPlain = protocol === "http:";
    // An IPv6 address has brackets in a URL, but not for the resolver.
    const portNumber = port === "" ? (this.#isPlain ? 80 : 443) : Number(port);
    this.#address = { hostname: hostname.replace(/^\[|\]$/g, ""), port: portNumber };
    this.#folder = pathname.replace(/\/+$/, "");
    this.#host = host;
  }

  /** Sends a request and resolves with the head of its answer. The signal covers connecting, the head and the body. */
  async send(request: SentRequest, { token, tls }: KubeCredentials, signal: AbortSignal): Promise<HttpResponse> {
    const text = this.#textOf(request, token);
    this.#trust(tls);
    const connection = await this.#connection(signal);
    const isReused = connection.hasServed;
    // The signal may have been aborted while the request waited for its connection.
    if (signal.aborted) connection.cut();
    const onAbort = (): void => connection.cut();
    signal.addEventListener("abort", onAbort, { once: true });
    connection.onSettled = () => signal.removeEventListener("abort", onAbort);
    try {
      return await connection.ask(text);
    } catch (thrown) {
      throw new ExchangeFailure(thrown, isReused);
    }
  }

  /**
   * Room for a connection that is kept for minutes, until it is disposed of. Without it a guard that follows sixteen
   * resources could send nothing.
   */
  roomForWatch(): Disposable {
    this.#watches += 1;
    return {
      [Symbol.dispose]: () => {
        this.#watches -= 1;
      },
    };
  }

  /** Closes idle connections: when one of them is dead, the others usually are too. */
  dropIdle(): void {
    for (const connection of [...this.#idle]) connection.cut();
  }

  close(): void {
    for (const connection of [...this.#connections]) connection.cut();
  }

  onFree(connection: Connection): void {
    if (this.#idle.length >= idleSocketsMax && this.#waiting.size === 0) connection.cut();
    else {
      this.#idle.push(connection);
      this.#wakeNext();
    }
  }

  onGone(connection: Connection): void {
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#wakeNext();
  }

  #trust(tls: KubeTls): void {
    if (this.#tls === tls) return;
    // Connections under the old certificates are cut, also those of watches. Watches resume over new ones.
    this.close();
    this.#tls = tls;
  }

  async #connection(signal: AbortSignal): Promise<Connection> {
    for (;;) {
      if (signal.aborted) {
        // This request was woken and leaves, so the next one is woken instead.
        this.#wakeNext();
        throw new ExchangeFailure(signal.reason, false);
      }
      const idle = this.#idle.pop();
      if (idle !== undefined) return idle;
      if (this.#connections.size < socketsMax + this.#watches) return await this.#open(signal);
      await this.#turn(signal);
    }
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const connection = new Connection(this);
    this.#connections.add(connection);
    const onAbort = (): void => connection.cut();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await connection.open(this.#address, this.#isPlain ? undefined : this.#tls);
      return connection;
    } catch (thrown) {
      throw new ExchangeFailure(thrown, false);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        this.#waiting.delete(go);
        signal.removeEventListener("abort", go);
        resolve();
      };
      this.#waiting.add(go);
      signal.addEventListener("abort", go, { once: true });
    });
  }

  #wakeNext(): void {
    const [next] = this.#waiting;
    next?.();
  }

  /** The request as one text, so that it is one packet. */
  #textOf({ method, path, body, contentType, accept, fields = "" }: SentRequest, token: string | undefined): string {
    const target = `${this.#folder}${path}`;
    if (!isTarget.test(target)) throw new Error(`the path ${JSON.stringify(path)} is not a valid request target`);
    const head = `${method} ${target} HTTP/1.1\r\nAccept: ${accept ?? json}\r\n${this.#fieldsOf(token)}${fields}`;
    if (body === undefined) return `${head}\r\n`;
    const bytes = Buffer.byteLength(body);
    return `${head}Content-Type: ${contentType ?? json}\r\nContent-Length: ${bytes}\r\n\r\n${body}`;
  }

  /** The header fields that stay the same until the token rotates. */
  #fieldsOf(token: string | undefined): string {
    if (this.#fields !== undefined && this.#fields.token === token) return this.#fields.text;
    if (token !== undefined && !isFieldValue.test(token))
      throw new Error("the token has characters that a header must not have");
    const authorization = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
    const text = `Host: ${this.#host}\r\nUser-Agent: levee/${version}\r\n${authorization}`;
    this.#fields = { token, text };
    return text;
  }
}

const json = "application/json";
/** A blank or a line break in it could begin another request. */
const isTarget = /^\/[\x21-\x7e]*$/u;
const isFieldValue = /^[\x21-\x7e]+$/u;

export interface SentRequest extends Pick<KubeRequest, "method" | "path" | "body" | "contentType" | "accept"> {
  /** More header fields, each with its line end. They are sent as they are. */
  readonly fields?: string;
}
