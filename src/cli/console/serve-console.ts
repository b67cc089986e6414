import { ConsoleServer } from "../../console/serve/console-server.ts";
import type { ConsoleServerOptions } from "../../console/serve/server-options.ts";
import { clusterHost, loopbackHost } from "../../console/serve/own-host.ts";
import { pageFiles } from "../../console/serve/page-files.ts";
import { embeddedPage } from "../../console/embedded-page.ts";
import { errnoOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import type { ComposedConsole } from "./compose-console.ts";
import { listenOf, type ConsoleOptions } from "./console-options.ts";
import { consoleProblem } from "./console-problem.ts";

/** 160 bits: nobody finds the page by trying. */
const tokenBytes = 20;

export interface ServedConsole extends AsyncDisposable {
  readonly server: ConsoleServer;
  readonly url: string;
}

/** Starts to look and to serve. Disposing ends both. */
export async function serveConsole(
  shell: Pick<Shell, "clock">,
  composed: ComposedConsole,
  options: Pick<ConsoleOptions, "inCluster" | "host" | "port" | "listen" | "tokenHeader"> & { readonly logger: Logger },
): Promise<ServedConsole> {
  const { host, port } = listenOf(options);
  const isInCluster = options.inCluster === true;
  const token = isInCluster ? undefined : Buffer.from(shell.clock.randomBytes(tokenBytes)).toString("base64url");
  const rules: ConsoleServerOptions["rules"] = (own) =>
    isInCluster
      ? { token, isOwnHost: clusterHost(options.host ?? []), schemes: ["http", "https"] }
      : { token, isOwnHost: loopbackHost(own), schemes: ["http"] };
  const server = new ConsoleServer({
    ...{ clock: shell.clock, logger: options.logger, host, port, rules },
    viewers: composed.viewers,
    desk: composed.desk,
    proxyHeader: options.tokenHeader?.toLowerCase(),
    files: pageFiles(await loadedPage()),
    explainFailure: consoleProblem,
  });
  composed.desk.start();
  const close = async (): Promise<void> => {
    await server.close();
    await composed.close();
  };
  try {
    const actual = await server.listen();
    const place = host.includes(":") ? `[${host}]` : host;
    return {
      server,
      url: `http://${place}:${actual}/${token === undefined ? "" : `${token}/`}`,
      [Symbol.asyncDispose]: close,
    };
  } catch (thrown) {
    await close();
    throw listenFailure(thrown, host, port);
  }
}

async function loadedPage(): ReturnType<typeof embeddedPage> {
  try {
    return await embeddedPage();
  } catch (cause) {
    throw new CommandFailure("page-missing", "Cannot serve the console: this program was started without its page", {
      remedy: "npm run build, then dist/levee console",
      cause,
    });
  }
}

function listenFailure(thrown: unknown, host: string, port: number): unknown {
  const errno = errnoOf(thrown);
  if (errno === "EADDRINUSE")
    return new CommandFailure("port-taken", `Cannot listen on ${host}:${port}: another program has the port`, {
      remedy: "another --port, or none for a free one",
      cause: thrown,
    });
  if (errno === "EACCES")
    return new CommandFailure("port-refused", `Cannot listen on ${host}:${port}: only root may use it`, {
      remedy: "a --port from 1024 on",
      cause: thrown,
    });
  if (errno === "EADDRNOTAVAIL")
    return new CommandFailure("address-unknown", `Cannot listen on ${host}: this machine does not have that address`, {
      remedy: "--listen 127.0.0.1",
      cause: thrown,
    });
  return thrown;
}
