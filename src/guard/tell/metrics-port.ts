import { createServer } from "node:http";
import type { Logger } from "../../base/log.ts";

/** A scrape has a head of a few hundred bytes. */
const headBytesMax = 8_192;
/** A peer that takes longer is not reading. */
const exchangeMsMax = 10_000;
/** Scrapers and probes; who keeps more open is not asking. */
const connectionsMax = 32;

interface MetricsPort extends Disposable {
  /** The port once it listens; another than asked for when 0 was. */
  readonly port: Promise<number | undefined>;
}

interface PortAnswers {
  readonly metrics: () => string;
  /** It has a picture of the cluster that it could decide on. */
  readonly isReady: () => boolean;
}

/**
 * Answers GET /metrics, /healthz and /readyz on every interface. That it answers at all shows that it lives. That the port
 * cannot be had is logged, and no reason to stop guarding.
 */
export function openMetricsPort(port: number, answers: PortAnswers, logger: Logger): MetricsPort {
  const server = createServer({ maxHeaderSize: headBytesMax, requestTimeout: exchangeMsMax }, (request, response) => {
    const { status, body } = answer(request.method ?? "", request.url ?? "", answers);
    response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(body);
  });
  server.maxConnections = connectionsMax;
  const listening = new Promise<number | undefined>((resolve) => {
    server.on("error", ({ message }) => {
      logger.warn("the port of the metrics cannot be had", { port, reason: message });
      resolve(undefined);
    });
    server.listen(port, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : undefined);
    });
  });
  server.unref();
  return {
    port: listening,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(method: string, url: string, answers: PortAnswers): { status: number; body: string } {
  const path = method === "GET" || method === "HEAD" ? url.split("?")[0] : undefined;
  switch (path) {
    case "/metrics":
      return { status: 200, body: answers.metrics() };
    case "/healthz":
      return { status: 200, body: "ok\n" };
    case "/readyz":
      return answers.isReady()
        ? { status: 200, body: "ok\n" }
        : { status: 503, body: "it cannot follow the cluster\n" };
    default:
      return { status: 404, body: "not found\n" };
  }
}
