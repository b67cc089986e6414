import { readFileSync } from "node:fs";

/** As much of a Kubernetes object as the tests look at. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly [other: string]: unknown;
  };
  readonly [other: string]: unknown;
}

export class ApiFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** How long one request may take: a stopped API server must not hold a test. */
const requestMs = 10_000;

/** The API server as a client sees it: paths and objects, nothing more. */
export class Api {
  readonly #url: string;
  readonly #caFile: string;
  readonly #token: () => string;

  constructor(url: string, caFile: string, token: () => string) {
    this.#url = url;
    this.#caFile = caFile;
    this.#token = token;
  }

  async isReady(): Promise<boolean> {
    return (await this.#fetch("GET", "/readyz")).ok;
  }

  get<T = KubeObject>(path: string): Promise<T> {
    return this.#ask<T>("GET", path);
  }

  async find<T = KubeObject>(path: string): Promise<T | undefined> {
    try {
      return await this.get<T>(path);
    } catch (thrown) {
      if (thrown instanceof ApiFailure && thrown.status === 404) return undefined;
      throw thrown;
    }
  }

  async list<T = KubeObject>(path: string): Promise<readonly T[]> {
    return (await this.get<{ items: readonly T[] }>(path)).items;
  }

  create<T = KubeObject>(path: string, object: unknown): Promise<T> {
    return this.#ask<T>("POST", path, object);
  }

  /** Server-side apply, as `kubectl apply --server-side --force-conflicts` does it. */
  apply(path: string, object: unknown): Promise<KubeObject> {
    return this.#ask("PATCH", `${path}?fieldManager=levee-e2e&force=true`, object, "application/apply-patch+yaml");
  }

  patch(path: string, change: unknown): Promise<KubeObject> {
    return this.#ask("PATCH", path, change, "application/merge-patch+json");
  }

  /** Deletes; that it is gone already is as good. */
  async delete(path: string, options: Readonly<Record<string, unknown>> = {}): Promise<void> {
    try {
      await this.#ask("DELETE", path, { kind: "DeleteOptions", apiVersion: "v1", ...options });
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 404) throw thrown;
    }
  }

  async #ask<T>(method: string, path: string, body?: unknown, type = "application/json"): Promise<T> {
    const response = await this.#fetch(method, path, body, type);
    const text = await response.text();
    if (!response.ok) throw new ApiFailure(response.status, `${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  #fetch(method: string, path: string, body?: unknown, type = "application/json"): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      method,
      headers: { "authorization": `Bearer ${this.#token()}`, "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMs),
      tls: { ca: readFileSync(this.#caFile, "utf8") },
      // A connection from before the server was stopped would fail the first request after it.
      keepalive: false,
    });
  }
}
