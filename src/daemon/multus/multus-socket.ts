import type { Cancel, Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { CallMetrics } from "../metrics/call-metrics.ts";
import { SocketPlace } from "../socket/socket-place.ts";
import type { Delegate } from "./delegate.ts";
import { multusRefusal, type MultusAnswer, type MultusCalls } from "./multus-calls.ts";
import { readMultusRequest } from "./multus-request.ts";

export interface MultusSocketNeeds {
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly measures: Pick<CallMetrics, "requested">;
  readonly calls: Pick<MultusCalls, "serve" | "closeAll">;
  readonly delegate: Pick<Delegate, "serve">;
  /** Whether a hand is there that can run plugins. */
  readonly isReady: () => boolean;
  readonly requestsMax: number;
}

/** A configuration of 256 KiB in base64, and the whole environment of the runtime. */
const bodyBytesMax = 1_048_576;
/** Of all requests together: each keeps its body while it waits in line, and most have 3 KiB. */
const heldBytesMax = 16 * bodyBytesMax;
/** A local process needs far less than this for its body. Bun itself cuts off a peer that is silent before that. */
const bodyMsMax = 5_000;
/** How often to look whether another program still has the socket. */
const retryMs = 1_000;

/**
 * Multus' HTTP interface, for programs that know no other: `multus-shim` and `multus-dynamic-networks-controller`. Loaded
 * late, and only where a site asks for it during a move (ADR 0041).
 */
export class MultusSocket {
  readonly #needs: MultusSocketNeeds;
  readonly #place: SocketPlace;
  #server: Bun.Server<undefined> | undefined;
  #cancelRetry: Cancel = () => undefined;
  #isStopped = false;
  #isWaiting = false;
  #requests = 0;
  #heldBytes = 0;

  constructor(needs: MultusSocketNeeds) {
    this.#needs = needs;
    this.#place = new SocketPlace({ folder: needs.folder, name: "multus.sock", setting: "multusSocketDir" });
  }

  /** Takes the socket, now or when a Multus that still answers there has gone. */
  async listen(): Promise<void> {
    const { clock, logger } = this.#needs;
    const { path } = this.#place;
    if (this.#isStopped) return;
    if (await isAnswered(path)) {
      if (!this.#isWaiting)
        logger.warn("Another program answers on multus.sock; waiting for it to end", { socket: path });
      this.#isWaiting = true;
      this.#cancelRetry = clock.after(retryMs, () => void this.#listenAgain());
      return;
    }
    await this.#place.take(clock, (unix) => {
      this.#server = Bun.serve({
        unix,
        maxRequestBodySize: bodyBytesMax,
        fetch: (request, server) => this.#answer(request, server),
      });
    });
    logger.info("The daemon also answers on multus.sock", { socket: path });
  }

  async stopListening(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry();
    if (this.#server === undefined) return;
    await this.#place.leave();
    void this.#server.stop();
  }

  closeConnections(): void {
    this.#needs.calls.closeAll();
    void this.#server?.stop(true);
  }

  async #listenAgain(): Promise<void> {
    await this.listen().catch((thrown: unknown) =>
      this.#needs.logger.error("Cannot listen on multus.sock", { reason: toLeveeError(thrown, "Listening").message }),
    );
  }

  async #answer(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    const path = new URL(request.url).pathname;
    const methods = methodsOf[path] ?? [];
    const isAllowed = methods.includes(request.method);
    const response = isAllowed ? await this.#answerTo(path, request, server) : notAllowed(methods);
    // A call counts when it ends, whichever way it came.
    if (path !== "/cni" || !isAllowed) {
      const handler = methods.length === 0 ? "NotFound" : path;
      this.#needs.measures.requested(handler, request.method.toLowerCase(), response.status);
    }
    return response;
  }

  #answerTo(path: string, request: Request, server: Bun.Server<undefined>): Response | Promise<Response> {
    const { calls, delegate } = this.#needs;
    if (path === "/cni") return this.#serve(calls, request, server);
    return path === "/delegate" ? this.#serve(delegate, request, server) : this.#probe(path);
  }

  /** `/healthz` says that the daemon is there. `multus-shim` asks it before DEL, which can be kept without a hand. */
  #probe(path: string): Response {
    if (path === "/healthz" || this.#needs.isReady()) return closing("", 200);
    return closing("The resident hand is not connected\n", 503);
  }

  async #serve(by: Pick<Delegate, "serve">, request: Request, server: Bun.Server<undefined>): Promise<Response> {
    const bytes = Number(request.headers.get("content-length") ?? Number.NaN);
    if (!Number.isSafeInteger(bytes)) return closing("The request needs a Content-Length\n", 411);
    using _room = this.#room(bytes);
    if (_room === undefined) return printed(multusRefusal(tooMany()));
    // From here on the limits are ours: the peer may have to wait for minutes.
    server.timeout(request, 0);
    try {
      const body = await this.#bodyOf(request);
      if (body === undefined) return closing("The body of the request did not come in time\n", 408);
      return printed(await by.serve(readMultusRequest(body), request.signal));
    } catch (thrown) {
      return printed(multusRefusal(toLeveeError(thrown, "Cannot serve the request")));
    }
  }

  async #bodyOf(request: Request): Promise<Uint8Array | undefined> {
    const late = new AbortController();
    const timer = this.#needs.clock.sleep(bodyMsMax, late.signal).then(
      () => undefined,
      () => undefined,
    );
    try {
      return await Promise.race([request.bytes(), timer]);
    } finally {
      late.abort();
    }
  }

  #room(bytes: number): Disposable | undefined {
    if (this.#requests >= this.#needs.requestsMax || this.#heldBytes + bytes > heldBytesMax) return undefined;
    this.#requests += 1;
    this.#heldBytes += bytes;
    return {
      [Symbol.dispose]: () => {
        this.#requests -= 1;
        this.#heldBytes -= bytes;
      },
    };
  }
}

/** The methods of each path, as with Multus. */
const methodsOf: Readonly<Record<string, readonly string[]>> = {
  "/cni": ["POST"],
  "/delegate": ["POST"],
  "/healthz": ["GET", "POST"],
  "/readyz": ["GET", "POST"],
};

function notAllowed(methods: readonly string[]): Response {
  return methods.length === 0 ? closing("", 404) : closing("Method not allowed\n", 405);
}

/** Each connection carries one request, as with Multus. */
function closing(body: string, status: number, contentType = "text/plain; charset=utf-8"): Response {
  return new Response(body, { status, headers: { "content-type": contentType, "connection": "close" } });
}

function printed({ status, body }: MultusAnswer): Response {
  return closing(body, status, "application/json");
}

function tooMany(): LeveeError {
  return new LeveeError("try-later", "Cannot take another request on multus.sock: too many are waiting");
}

async function isAnswered(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data: () => undefined } });
    socket.end();
    return true;
  } catch {
    // No file, or the socket of a process that is gone.
    return false;
  }
}
