import { KubeError, type FollowableApi, type KubeRequest, type LinesOptions } from "../../kube/client/api.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { SimProcess } from "../time/sim-process.ts";
import type { SimApi } from "./sim-api.ts";

/** The server sends a bookmark about once a minute. */
const bookmarkMs = 60_000;
const retryAfterMs = 1_000;

/** The API server as one process sees it: answers take time, are refused, or do not come. */
export class SimApiClient implements FollowableApi {
  readonly #api: SimApi;
  readonly #process: SimProcess;

  constructor(api: SimApi, process: SimProcess) {
    this.#api = api;
    this.#process = process;
  }

  close(): void {
    // A killed process has closed its connections, and an ended one has ended its requests.
  }

  async call({ method, path, body, deadlineMs, signal }: KubeRequest): Promise<string> {
    const url = new URL(path, "http://localhost");
    this.#api.count(method === "GET" ? "get" : method.toLowerCase());
    await this.#travel(signal, deadlineMs);
    const place = placeOf(url.pathname);
    if (method === "POST") return "{}";
    if (place.key === undefined) return JSON.stringify(this.#listOf(url));
    const patch = method === "PATCH" ? objectOf(JSON.parse(body ?? "{}")) : undefined;
    const found =
      patch === undefined
        ? this.#api.get(place.resource, place.key)
        : this.#api.annotate(place.resource, place.key, patch);
    if (found === undefined) throw refusal(404, "NotFound");
    return JSON.stringify(found);
  }

  async items(path: string, { signal, idleMs }: LinesOptions, onItem: (text: string) => void): Promise<string> {
    this.#api.count("list");
    await this.#travel(signal, idleMs);
    const url = new URL(path, "http://localhost");
    const list = this.#listOf(url);
    const asked = Number(url.searchParams.get("resourceVersion") ?? 0);
    // A cache that is behind the asked version answers that it has not got there in time.
    if (asked > Number(list.metadata.resourceVersion)) throw refusal(504, "Timeout");
    for (const item of list.items) onItem(JSON.stringify(item));
    return JSON.stringify({ ...list, items: [] });
  }

  async *lines(path: string, options: LinesOptions): AsyncGenerator<string> {
    const url = new URL(path, "http://localhost");
    this.#api.count(url.searchParams.has("sendInitialEvents") ? "streamed list" : "watch");
    await this.#travel(options.signal, options.idleMs);
    const list = url.searchParams.has("sendInitialEvents") ? this.#listOf(url) : undefined;
    const asked = Number(url.searchParams.get("resourceVersion") ?? 0);
    const version = list === undefined ? asked : Number(list.metadata.resourceVersion);
    if (asked > version) throw refusal(504, "Timeout");
    options.onOpen?.();
    if (list !== undefined) {
      for (const object of list.items) yield eventText("ADDED", object);
      yield bookmark(version, true);
    }
    yield* this.#changes(url, version, options);
  }

  async *#changes(url: URL, from: number, options: LinesOptions): AsyncGenerator<string> {
    const { resource } = placeOf(url.pathname);
    const isWanted = wantedBy(url);
    const endsMs = this.#process.monotonicMs() + Number(url.searchParams.get("timeoutSeconds") ?? 300) * 1_000;
    let version = from;
    while (this.#process.monotonicMs() < endsMs) {
      const changes = this.#api.since(resource, version);
      if (changes === undefined) {
        yield eventText("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" });
        return;
      }
      for (const { version: at, type, object } of changes) {
        version = at;
        if (isWanted(object)) yield eventText(type, object);
      }
      if (!(await this.#change(options, endsMs))) yield bookmark(version, false);
      if (this.#api.trouble.isAway) throw unreachable();
    }
  }

  /** Waits for a change. False after a minute without any. */
  #change({ signal }: LinesOptions, endsMs: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waitMs = Math.min(bookmarkMs, Math.max(0, endsMs - this.#process.monotonicMs()));
    const onAbort = (): void => reject(signal.reason as Error);
    const stopTimer = this.#process.after(waitMs, () => resolve(false));
    const stopListening = this.#api.listen(() => {
      if (this.#process.isAlive) this.#process.after(this.#process.random() * 5, () => resolve(true));
      else stopListening();
    });
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    return promise.finally(() => {
      stopTimer();
      stopListening();
      signal.removeEventListener("abort", onAbort);
    });
  }

  /** The way to the server and back. Of a server that is away, the host refuses the connection at once. */
  async #travel(signal: AbortSignal | undefined, deadlineMs: number): Promise<void> {
    const { trouble } = this.#api;
    const isBusy = this.#process.random() < trouble.busyShare;
    const waitMs = this.#process.random() * trouble.answerMsMax;
    await this.#process.sleep(Math.min(waitMs, deadlineMs), signal);
    if (trouble.isAway || waitMs > deadlineMs) throw unreachable();
    if (isBusy) throw refusal(429, "TooManyRequests", retryAfterMs);
  }

  #listOf(url: URL): {
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly JsonObject[];
  } {
    const { items, version } = this.#api.list(placeOf(url.pathname).resource, wantedBy(url));
    return { metadata: { resourceVersion: String(version) }, items };
  }
}

interface ApiPlace {
  readonly resource: string;
  /** Undefined for a list. */
  readonly key: string | undefined;
}

/** `/api/v1/namespaces/NS/pods/NAME/status` and the like. */
function placeOf(path: string): ApiPlace {
  const parts = path.split("/").filter((part) => part !== "");
  const at = parts.indexOf("namespaces");
  if (at === -1) return { resource: parts.at(-1) ?? "", key: undefined };
  const [namespace, resource = "", name] = parts.slice(at + 1).map(decodeURIComponent);
  return { resource, key: name === undefined ? undefined : `${namespace}/${name}` };
}

function wantedBy(url: URL): (object: JsonObject) => boolean {
  const node = /^spec\.nodeName=(.+)$/u.exec(url.searchParams.get("fieldSelector") ?? "")?.[1];
  return (object) => node === undefined || textOf(objectOf(object["spec"])["nodeName"]) === node;
}

function eventText(type: string, object: JsonObject): string {
  return JSON.stringify({ type, object });
}

function bookmark(version: number, endsList: boolean): string {
  const annotations = endsList ? { "k8s.io/initial-events-end": "true" } : {};
  return eventText("BOOKMARK", { metadata: { resourceVersion: String(version), annotations } });
}

function unreachable(): KubeError {
  return new KubeError("api-unreachable", "Cannot reach the API server: it is away");
}

function refusal(status: number, reason: string, retryMs?: number): KubeError {
  return new KubeError("api-refused", `The API server refused: ${reason}`, { status, reason, retryAfterMs: retryMs });
}
