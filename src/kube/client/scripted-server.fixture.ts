import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

export interface SeenRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly socket: Socket;
}

export type Script = (request: SeenRequest, response: ServerResponse) => void;

export interface ScriptedTls {
  readonly key: string;
  readonly cert: string;
  readonly ca?: string;
  readonly requestCert?: boolean;
}

/** An API server that cuts, stalls and refuses as the test says, which a real one does not do on request. */
export class ScriptedServer {
  readonly requests: SeenRequest[] = [];
  script: Script;
  readonly #server: Server;
  readonly #isTls: boolean;

  private constructor(script: Script, tls: ScriptedTls | undefined) {
    this.script = script;
    this.#isTls = tls !== undefined;
    const serve = (request: IncomingMessage, response: ServerResponse): void => this.#serve(request, response);
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  }

  static async listen(script: Script, options: { host?: string; tls?: ScriptedTls } = {}): Promise<ScriptedServer> {
    const server = new ScriptedServer(script, options.tls);
    await new Promise<void>((resolve) => server.#server.listen(0, options.host ?? "127.0.0.1", resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#isTls ? "https" : "http"}://127.0.0.1:${this.port}`;
  }

  paths(): readonly string[] {
    return this.requests.map(({ url }) => url.pathname + url.search);
  }

  async close(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    response.on("error", () => undefined);
    request.on("error", () => undefined);
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const { method = "", headers, socket } = request;
      const seen = { method, headers, socket, body, url: new URL(request.url ?? "", this.url) };
      this.requests.push(seen);
      this.script(seen, response);
    });
  }
}

export function answer(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

export function refuse(response: ServerResponse, status: number, reason: string, headers = {}): void {
  const body = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: `${reason} it is`,
    reason,
    code: status,
  };
  answer(response, body, status, headers);
}

/** One event of a watch. */
export function writeLine(response: ServerResponse, event: unknown): void {
  response.write(`${JSON.stringify(event)}\n`);
}
