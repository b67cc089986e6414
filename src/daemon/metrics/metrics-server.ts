import type { Cancel, Clock } from "../../base/clock.ts";
import { errnoOf, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { HttpExchange, type HttpAnswer, type HttpRequest } from "./http-exchange.ts";
import type { Service } from "../service.ts";

export interface MetricsServerOptions {
  readonly port: number;
  /** `any`: every interface, as Multus does it. */
  readonly reach: "node" | "any";
  readonly clock: Clock;
  readonly logger: Logger;
  readonly answer: (request: HttpRequest) => HttpAnswer;
  readonly onRefused: (status: number) => void;
  /** For tests of machines that lack something. */
  readonly listen?: typeof listen;
}

type Handlers = Bun.SocketHandler<HttpExchange | undefined>;
type Listener = Bun.TCPSocketListener<HttpExchange | undefined>;

/** Kubelet's probes and a few scrapers; who keeps more open than that is not asking. */
const connectionsMax = 32;
/** While another daemon still has the port, as during a rollout: kubelet's probes wait for us then. */
const retryMsMin = 500;
const retryMsMax = 5_000;
/** One line a minute says enough about a port that belongs to somebody else. */
const logMs = 60_000;

/**
 * A port for those who ask about this node over HTTP. That it cannot be had is logged, and no reason to serve no pods.
 * On Bun's own sockets, as the daemon has no node:net: ADR 0025.
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

  /** The port while it listens; another than asked for when 0 was. */
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
      // A machine without IPv6 has no `::`, which Bun says without an errno.
      if (errnoOf(thrown) !== "EADDRINUSE" && next !== undefined) this.#listen([next], retryMs);
      else this.#retry(hosts, retryMs, thrown);
    }
  }

  /** One set for all connections. Why one broke does not matter: the peer is gone either way. */
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
      this.#log("The port for health and metrics cannot be had; trying again", error);
    }
    const nextMs = Math.min(retryMsMax, retryMs * 2);
    this.#cancelRetry = this.#options.clock.after(retryMs, () => this.#listen(hosts, nextMs));
  }

  #log(what: string, error: unknown): void {
    const { logger, port } = this.#options;
    logger.warn(what, { port, reason: errnoOf(error) ?? toLeveeError(error, "Cannot listen").message });
  }

  #take(exchange: HttpExchange): void {
    // The oldest goes, not the one that has just come: kubelet restarts a daemon that does not answer its probes.
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
