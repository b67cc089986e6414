/** The address of the API server, and the credentials for it. They are read for each request, because they rotate. */
export interface KubeAccess {
  /** Scheme, host and port, and a path when the server is behind one; no slash at the end. */
  readonly server: string;
  credentials(): Promise<KubeCredentials>;
  /** The server answered 401: the next `credentials()` reads everything again. */
  renew(): void;
}

export interface KubeCredentials {
  readonly token: string | undefined;
  /** The same object while nothing in it changes: another object means new connections. */
  readonly tls: KubeTls;
}

/** Named as in `node:tls`. Files and data of a kubeconfig end up here. */
export interface KubeTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** An access that never changes, for a server without authentication such as `kubectl proxy`, and for tests. */
export function fixedAccess(server: string, credentials: Partial<KubeCredentials> = {}): KubeAccess {
  const fixed: KubeCredentials = { token: credentials.token, tls: credentials.tls ?? {} };
  return { server: server.replace(/\/+$/, ""), credentials: () => Promise.resolve(fixed), renew: () => undefined };
}
