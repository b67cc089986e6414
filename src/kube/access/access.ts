/** Where the API server is and how it knows us. Read again for each request: tokens and certificates rotate. */
export interface KubeAccess {
  /** Scheme, host and port, and a path when the server is behind one; no slash at the end. */
  readonly server: string;
  credentials(): Promise<KubeCredentials>;
  /** The server answered 401: whatever is kept is read again before the next `credentials()`. */
  renew(): void;
}

export interface KubeCredentials {
  readonly token: string | undefined;
  /** The same object as long as nothing in it has changed: another one means new connections. */
  readonly tls: KubeTls;
}

/** As `node:tls` names them; a kubeconfig's own files and data end up here. */
export interface KubeTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** An access that never changes: a server that asks nobody, as `kubectl proxy` and tests run one. */
export function fixedAccess(server: string, credentials: Partial<KubeCredentials> = {}): KubeAccess {
  const fixed: KubeCredentials = { token: credentials.token, tls: credentials.tls ?? {} };
  return { server: server.replace(/\/+$/, ""), credentials: () => Promise.resolve(fixed), renew: () => undefined };
}
