import { spawn } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { dirname } from "node:path";
import { serverCertificate, serverKey } from "../../kube/access/certificates.fixture.ts";
import type { GitServer } from "./git-server.fixture.ts";

interface WebServer extends AsyncDisposable {
  readonly url: string;
  /** The Authorization headers of the clients. */
  readonly authorizations: readonly (string | undefined)[];
}

/** Git's http-backend behind a server that asks for a name and a password if `basic` is given. */
export async function serveGit(server: Pick<GitServer, "bare">, basic?: string): Promise<WebServer> {
  const authorizations: (string | undefined)[] = [];
  const onRequest: RequestListener = (request, response) => {
    const { authorization } = request.headers;
    authorizations.push(authorization);
    if (basic !== undefined && authorization !== `Basic ${Buffer.from(basic).toString("base64")}`) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      return;
    }
    const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
    const child = spawn("git", ["http-backend"], {
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        GIT_PROJECT_ROOT: dirname(server.bare),
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        REQUEST_METHOD: request.method ?? "",
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        REMOTE_USER: "levee",
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    request.pipe(child.stdin);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.once("close", () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf("\r\n\r\n");
      const headers = answer
        .toString("latin1", 0, end)
        .split("\r\n")
        .map((line) => line.split(": ", 2) as [string, string]);
      const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
      response.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers)).end(answer.subarray(end + 4));
    });
  };
  const isSecret = basic !== undefined;
  const web = isSecret
    ? createTlsServer({ cert: serverCertificate, key: serverKey }, onRequest)
    : createServer(onRequest);
  return { ...(await listening(web, isSecret ? "https" : "http")), authorizations };
}

/** Starts a server and gives it a repository's address. */
export async function listening(server: Server, scheme: string): Promise<WebServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a port has this kind of address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}/infra.git`,
    authorizations: [],
    [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      return Promise.resolve();
    },
  };
}
