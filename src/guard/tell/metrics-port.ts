import { createServer } from "node:http";
import type { Logger } from "../../base/log.ts";

/** A scrape has a head of a few hundred bytes. */
const headBytesMax = 8_192;
/** A peer that takes longer is not reading. */
const exchangeMsMax = 10_000;
/** Scrapers and probes; who keeps more open is not asking. */
const connectionsMax = 32;

export interface MetricsPort extends Disposable {
  /** The port once it listens; another than asked for when 0 was. */
  readonly port: Promise<number | undefined>;
}

/** Answers GET /metrics and /healthz on every interface. That the port cannot be had is logged, and no reason to stop guarding. */
export function openMetricsPort(port: number, metrics: () => string, logger: Logger): MetricsPort {
  const server = createServer({ maxHeaderSize: headBytesMax, requestTimeout: exchangeMsMax }, (request, response) => {
    const body = answer(request.method ?? "", request.url ?? "", metrics);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(body ?? "not found\n");
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

function answer(method: string, url: string, metrics: () => string): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const path = url.split("?")[0];
  if (path === "/metrics") return metrics();
  return path === "/healthz" ? "ok\n" : undefined;
}
