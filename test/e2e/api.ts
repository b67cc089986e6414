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

interface RequestOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly signal?: AbortSignal;
}

/** The API server as a client sees it: paths and objects, nothing more. */
export class Api {
  readonly #url: string;
  readonly #caFile: string;
  readonly #token: () => string;
  readonly #keepsConnections: boolean;

  constructor(url: string, caFile: string, token: () => string, keepsConnections = false) {
    this.#url = url;
    this.#caFile = caFile;
    this.#token = token;
    this.#keepsConnections = keepsConnections;
  }

  /** The same for many requests in a row to a server that stays: a handshake each would take the node's processor. */
  keepingConnections(): Api {
    return new Api(this.#url, this.#caFile, this.#token, true);
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

  /** Operations of a JSON patch. */
  patchBy(path: string, ...operations: readonly object[]): Promise<KubeObject> {
    return this.#ask("PATCH", path, operations, "application/json-patch+json");
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

  /** Every change from now on, until the signal comes; the first line of a pod is what it is already. */
  async watch<T>(path: string, onChange: (type: string, object: T) => void, signal: AbortSignal): Promise<void> {
    const response = await this.#fetch("GET", path, { signal });
    if (!response.ok || response.body === null)
      throw new ApiFailure(response.status, `GET ${path}: ${response.status}`);
    const decoder = new TextDecoder();
    let rest = "";
    // The types of a response leave open what its chunks are; they are bytes.
    for await (const chunk of response.body as ReadableStream<Uint8Array<ArrayBuffer>>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: T };
        onChange(type, object);
      }
    }
  }

  async #ask<T>(method: string, path: string, body?: unknown, type = "application/json"): Promise<T> {
    const response = await this.#fetch(method, path, { body, type });
    const text = await response.text();
    if (!response.ok) throw new ApiFailure(response.status, `${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  #fetch(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { body, type = "application/json", signal = AbortSignal.timeout(requestMs) } = options;
    return fetch(`${this.#url}${path}`, {
      method,
      headers: { "authorization": `Bearer ${this.#token()}`, "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      tls: { ca: readFileSync(this.#caFile, "utf8") },
      // A connection from before the server was stopped would fail the first request after it.
      keepalive: this.#keepsConnections,
    });
  }
}
