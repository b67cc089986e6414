import { createServer } from "node:http";
import type { Logger } from "../../base/log.ts";

/** The head of a scrape has a few hundred bytes. */
const headBytesMax = 8_192;
/** A peer that takes longer does not read. */
const exchangeMsMax = 10_000;
/** Enough for scrapers and probes. */
const connectionsMax = 32;

interface MetricsPort extends Disposable {
  /** The actual port, once it listens. */
  readonly port: Promise<number | undefined>;
}

interface PortAnswers {
  readonly metrics: () => string;
  /** The facts about the cluster are complete and current. */
  readonly isReady: () => boolean;
  /** The door of the reboot gate; absent while it is not set. */
  readonly gate?: (node: string) => PortAnswer;
}

interface PortAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Answers GET /metrics, /healthz, /readyz and, where it is set, /gate/NODE on every interface; any answer is a sign of life.
 * If the port is taken, the program logs it and goes on. The guard has such a port, and a console in a cluster.
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
      logger.warn("Cannot open the metrics port", { port, reason: message });
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

const gatePath = "/gate/";

function answer(method: string, url: string, answers: PortAnswers): PortAnswer {
  const path = method === "GET" || method === "HEAD" ? url.split("?")[0] : undefined;
  if (answers.gate !== undefined && path?.startsWith(gatePath) === true)
    return answers.gate(path.slice(gatePath.length));
  switch (path) {
    case "/metrics":
      return { status: 200, body: answers.metrics() };
    case "/healthz":
      return { status: 200, body: "ok\n" };
    case "/readyz":
      return answers.isReady()
        ? { status: 200, body: "ok\n" }
        : { status: 503, body: "the cluster cannot be followed\n" };
    default:
      return { status: 404, body: "not found\n" };
  }
}
