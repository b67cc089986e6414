import { createServer, type Server, type Socket } from "node:net";
import type { Cancel, Clock } from "../base/clock.ts";
import { errnoOf, toLeveeError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { serveHttp, type HttpAnswer, type HttpRequest } from "./metrics-http.ts";
import type { Service } from "./service.ts";

export interface MetricsServerOptions {
  readonly port: number;
  /** `any`: every interface, as Multus does it. */
  readonly reach: "node" | "any";
  readonly clock: Clock;
  readonly logger: Logger;
  readonly answer: (request: HttpRequest) => HttpAnswer;
  readonly onRefused: (status: number) => void;
}

/** Kubelet's probes and a few scrapers; who keeps more open than that is not asking. */
const connectionsMax = 32;
/** While another daemon still has the port, as during a rollout: kubelet's probes wait for us then. */
const retryMsMin = 500;
const retryMsMax = 5_000;
/** One line a minute says enough about a port that belongs to somebody else. */
const sayMs = 60_000;

/** A port for those who ask about this node over HTTP. That it cannot be had is logged, and no reason to serve no pods. */
export class MetricsServer implements Service {
  readonly #options: MetricsServerOptions;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #cancelRetry: Cancel = () => undefined;
  #isStopped = false;
  #saidMs = Number.NEGATIVE_INFINITY;

  constructor(options: MetricsServerOptions) {
    this.#options = options;
    this.#listen(options.reach === "node" ? ["127.0.0.1"] : ["::", "0.0.0.0"], retryMsMin);
  }

  /** The port while it listens; another than asked for when 0 was. */
  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === "object" && address !== null ? address.port : undefined;
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry();
    const server = this.#server;
    if (server === undefined) return Promise.resolve();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    return closed;
  }

  #listen(hosts: readonly string[], retryMs: number): void {
    const [host, ...others] = hosts;
    const server = createServer((socket) => this.#take(socket));
    server.once("error", (error) => {
      // A machine without IPv6 has no `::`.
      const isFamilyMissing = ["EAFNOSUPPORT", "EADDRNOTAVAIL", "EINVAL"].includes(errnoOf(error) ?? "");
      if (isFamilyMissing && others.length > 0) this.#listen(others, retryMs);
      else this.#retry(hosts, retryMs, error);
    });
    server.listen({ host, port: this.#options.port }, () => {
      if (this.#isStopped) {
        server.close();
        return;
      }
      server.removeAllListeners("error");
      server.on("error", (error) => this.#say("A connection to the port could not be taken", error));
      this.#server = server;
      this.#options.logger.info("Health and metrics are served", { host, port: this.port });
    });
  }

  #retry(hosts: readonly string[], retryMs: number, error: Error): void {
    if (this.#isStopped) return;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#saidMs >= sayMs) {
      this.#saidMs = nowMs;
      this.#say("The port for health and metrics cannot be had; trying again", error);
    }
    const nextMs = Math.min(retryMsMax, retryMs * 2);
    this.#cancelRetry = this.#options.clock.after(retryMs, () => this.#listen(hosts, nextMs));
  }

  #say(what: string, error: Error): void {
    const { logger, port } = this.#options;
    logger.warn(what, { port, reason: errnoOf(error) ?? toLeveeError(error, "Cannot listen").message });
  }

  #take(socket: Socket): void {
    if (this.#isStopped) {
      socket.on("error", () => undefined);
      socket.destroy();
      return;
    }
    // The oldest goes, not the one that has just come: kubelet restarts a daemon that does not answer its probes.
    const [oldest] = this.#sockets;
    if (oldest !== undefined && this.#sockets.size >= connectionsMax) {
      this.#sockets.delete(oldest);
      oldest.destroy();
    }
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    serveHttp(socket, this.#options);
  }
}
