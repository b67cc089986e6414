import { systemClock, type Clock } from "../../base/clock.ts";
import { ConsoleServer } from "./console-server.ts";
import { InventedDesk, InventedViewers } from "./invented.fixture.ts";
import { loopbackHost } from "./own-host.ts";

export const testToken = "tokentokentokentokentoken";

/** A console with invented facts on a real port of this machine. */
export async function openConsole(options: { readonly clock?: Clock; readonly nodes?: number } = {}): Promise<{
  readonly server: ConsoleServer;
  readonly desk: InventedDesk;
  readonly viewers: InventedViewers;
  readonly logged: string[];
  readonly url: string;
  readonly host: string;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const desk = new InventedDesk(options.nodes);
  const viewers = new InventedViewers();
  const logged: string[] = [];
  const log = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const server = new ConsoleServer({
    clock: options.clock ?? systemClock,
    logger: { debug: log, info: log, warn: log, error: log },
    host: "127.0.0.1",
    port: 0,
    rules: (port) => ({ token: testToken, isOwnHost: loopbackHost(port), schemes: ["http"] }),
    viewers,
    desk,
    files: new Map([
      ["index.html", "<!doctype html><title>Levee</title>"],
      ["console.js", "1"],
    ]),
    explainFailure: (thrown) => ({
      status: 500,
      problem: { code: "internal", message: String(thrown), remedy: "" },
    }),
  });
  const port = await server.listen();
  const host = `127.0.0.1:${port}`;
  return {
    ...{ server, desk, viewers, logged, host, url: `http://${host}/${testToken}/` },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
