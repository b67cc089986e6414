import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerConsole } from "./answer-console.ts";
import { ConsoleFeed } from "./console-feed.ts";
import type { ConsoleServerOptions } from "./server-options.ts";
import { RefusalCounts } from "./refusal-counts.ts";
import { TabStreams } from "./tab-streams.ts";

/** A head with a service account's token has some two kilobytes, one with groups of a large company ten. */
const headBytesMax = 32_768;
/** A request's head and body; the stream of events has no such limit. */
const requestMsMax = 10_000;
/**
 * One browser opens six per page. The others are room: a connection that says nothing is cut after some ten seconds, and
 * until then keeps nobody out.
 */
const connectionsMax = 1_024;

/** The console over HTTP. Everything that a request may do is in `answer-console.ts`; this only listens. */
export class ConsoleServer {
  readonly #options: ConsoleServerOptions;
  readonly #server: Server;
  readonly #feed: ConsoleFeed;
  readonly #streams: TabStreams;
  readonly refusals: RefusalCounts;

  constructor(options: ConsoleServerOptions) {
    this.#options = options;
    this.refusals = new RefusalCounts(options.logger);
    this.#feed = new ConsoleFeed(options.clock, () => options.desk.parts());
    this.#streams = new TabStreams({ ...options, feed: this.#feed });
    this.#server = createServer({ maxHeaderSize: headBytesMax, requestTimeout: requestMsMax }, (request, response) => {
      void this.#answer(request, response);
    });
    this.#server.maxConnections = connectionsMax;
  }

  /** Resolves with the port. Rejects with the system's error, such as EADDRINUSE. */
  listen(): Promise<number> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve(this.port);
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0; // never a pipe: it listens on a host
  }

  /** How many tabs follow. */
  get tabs(): number {
    return this.#streams.size;
  }

  async close(): Promise<void> {
    this.#streams.close({ code: "console-ended", message: "levee console ended", remedy: "start levee console again" });
    this.#feed.close();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined); // the peer is gone
    await answerConsole(request, response, {
      ...this.#options,
      rules: this.#options.rules(this.port),
      refusals: this.refusals,
      streams: this.#streams,
    });
  }
}
