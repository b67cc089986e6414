import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { serverCertificate, serverKey } from "../../kube/access/certificates.fixture.ts";

/** Answers one path. It may answer badly. */
export type Page = string | ((response: ServerResponse) => void);

/** A real server of files on this machine, with TLS or without. */
export interface SourceServer extends AsyncDisposable {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: readonly string[];
  /** Pages by path. A test may change them while the server runs. */
  readonly pages: Map<string, Page>;
}

export async function serveFiles(
  scheme: "http" | "https",
  pages: Readonly<Record<string, Page>>,
): Promise<SourceServer> {
  const served = new Map(Object.entries(pages));
  const asked: string[] = [];
  const onRequest: RequestListener = (request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const page = served.get(path);
    if (page === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("no such file\n");
    else if (typeof page === "string")
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(page);
    else page(response);
  };
  const server =
    scheme === "https"
      ? createTlsServer({ cert: serverCertificate, key: serverKey }, onRequest)
      : createServer(onRequest);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a port has this kind of address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    asked,
    pages: served,
    [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      return Promise.resolve();
    },
  };
}

/** An operator as projects publish them, made up: a definition, a Deployment with an image, and images as variables. */
export function operatorManifest(version: string): string {
  return `# An operator of ${version}
apiVersion: v1
kind: Namespace
metadata:
  name: imports
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: importers.imports.example.com
spec:
  group: imports.example.com
  names: { kind: Importer, plural: importers, singular: importer }
  scope: Cluster
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                image: { type: string, description: The image of the importer }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: imports-operator
  namespace: imports
spec:
  selector: { matchLabels: { app: imports-operator } }
  template:
    metadata: { labels: { app: imports-operator } }
    spec:
      containers:
        - name: operator
          image: registry.example.com/imports/operator:${version}
          env:
            - name: CONTROLLER_IMAGE
              value: registry.example.com/imports/controller:${version}
            - name: RELATED_IMAGE_PROXY
              value: registry.example.com/imports/proxy@sha256:${"a".repeat(64)}
            - name: VERBOSITY
              value: "1"
`;
}

/** The resource that the operator acts on. */
export const importerManifest = `apiVersion: imports.example.com/v1
kind: Importer
metadata:
  name: importer
spec: {}
`;
