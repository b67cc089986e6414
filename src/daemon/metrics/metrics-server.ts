import type { Cancel, Clock } from "../../base/clock.ts";
import { errnoOf, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { HttpExchange, type HttpAnswer, type HttpRequest } from "./http-exchange.ts";
import type { Service } from "../service.ts";

export interface MetricsServerOptions {
  readonly port: number;
  /** `any`: every interface, as with Multus. */
  readonly reach: "node" | "any";
  readonly clock: Clock;
  readonly logger: Logger;
  readonly answer: (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
  readonly onRefused: (status: number) => void;
  /** Replaced in tests of machines without IPv6 or with a taken port. */
  readonly listen?: typeof listen;
}

type Handlers = Bun.SocketHandler<HttpExchange | undefined>;
type Listener = Bun.TCPSocketListener<HttpExchange | undefined>;

/** Enough for kubelet's probes and a few scrapers. */
const connectionsMax = 32;
/** During a rollout the old daemon may still hold the port, and kubelet's probes wait for the new one. */
const retryMsMin = 500;
const retryMsMax = 5_000;
/** One line a minute is enough about a port that another program holds. */
const logMs = 60_000;

/**
 * A port that answers questions about this node over HTTP. A taken port is logged and retried; pods are served meanwhile.
 * It uses Bun's own sockets, as the daemon loads no node:net: ADR 0025.
 */
export class MetricsServer implements Service {
  readonly #options: MetricsServerOptions;
  readonly #exchanges = new Set<HttpExchange>();
  #listener: Listener | undefined;
  #cancelRetry: Cancel = () => undefined;
  #isStopped = false;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: MetricsServerOptions) {
    this.#options = options;
    this.#listen(options.reach === "node" ? ["127.0.0.1"] : ["::", "0.0.0.0"], retryMsMin);
  }

  /** The port while it listens; a free one when 0 was asked for. */
  get port(): number | undefined {
    return this.#listener?.port;
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry();
    this.#listener?.stop();
    this.#listener = undefined;
    for (const exchange of this.#exchanges) exchange.cut();
    return Promise.resolve();
  }

  #listen(hosts: readonly [string, ...string[]], retryMs: number): void {
    const [hostname, next] = hosts;
    try {
      const { port } = this.#options;
      this.#listener = (this.#options.listen ?? listen)(hostname, port, this.#handlers());
      this.#options.logger.info("Health and metrics are served", { host: hostname, port: this.port });
    } catch (thrown) {
      // A machine without IPv6 has no `::`; Bun's error for it has no errno.
      if (errnoOf(thrown) !== "EADDRINUSE" && next !== undefined) this.#listen([next], retryMs);
      else this.#retry(hosts, retryMs, thrown);
    }
  }

  /** One set of handlers for all connections. The reason of an error does not matter: the peer is gone either way. */
  #handlers(): Handlers {
    return {
      binaryType: "buffer",
      open: (socket) => {
        socket.data = new HttpExchange(socket, this.#options);
        this.#take(socket.data);
      },
      data: ({ data }, chunk) => data?.receive(chunk),
      drain: ({ data }) => data?.drain(),
      close: ({ data }) => this.#forget(data),
      error: ({ data }) => data?.cut(),
    };
  }

  #retry(hosts: readonly [string, ...string[]], retryMs: number, error: unknown): void {
    if (this.#isStopped) return;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#loggedMs >= logMs) {
      this.#loggedMs = nowMs;
      this.#log("Cannot listen on the port for health and metrics; trying again", error);
    }
    const nextMs = Math.min(retryMsMax, retryMs * 2);
    this.#cancelRetry = this.#options.clock.after(retryMs, () => this.#listen(hosts, nextMs));
  }

  #log(what: string, error: unknown): void {
    const { logger, port } = this.#options;
    logger.warn(what, { port, reason: errnoOf(error) ?? toLeveeError(error, "Cannot listen").message });
  }

  #take(exchange: HttpExchange): void {
    // Cut the oldest, not the newest: kubelet restarts a daemon that does not answer its probes.
    const [oldest] = this.#exchanges;
    if (oldest !== undefined && this.#exchanges.size >= connectionsMax) {
      this.#exchanges.delete(oldest);
      oldest.cut();
    }
    this.#exchanges.add(exchange);
  }

  #forget(exchange: HttpExchange | undefined): void {
    if (exchange === undefined) return;
    exchange.closed();
    this.#exchanges.delete(exchange);
  }
}

function listen(hostname: string, port: number, socket: Handlers): Listener {
  return Bun.listen({ hostname, port, data: undefined, socket });
}
