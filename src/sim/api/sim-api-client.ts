import type { FollowableApi, KubeRequest, LinesOptions } from "../../kube/client/api.ts";
import { objectOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { SimProcess } from "../time/sim-process.ts";
import { apiRefusal, apiUnreachable } from "./api-errors.ts";
import { placeKey, resourcePlace } from "./resource-place.ts";
import { selectedBy } from "./selected-by.ts";
import type { SimApi } from "./sim-api.ts";

/** The server sends a bookmark about once a minute. */
const bookmarkMs = 60_000;
const retryAfterMs = 1_000;

interface ClientOptions {
  /** The way to the server of this process alone. */
  readonly link?: { readonly isCut: boolean };
  /** Whether a watch is woken by changes of its own resource only: there are dozens of watches in a guard. */
  readonly isSelective?: boolean;
  /** For the log, where several ask. */
  readonly name?: string;
  /** The node whose daemon asks. */
  readonly node?: string;
}

/** The API server as one process sees it: answers take time, are refused, or do not come. */
export class SimApiClient implements FollowableApi {
  readonly #api: SimApi;
  readonly #process: SimProcess;
  readonly #options: ClientOptions;

  constructor(api: SimApi, process: SimProcess, options: ClientOptions = {}) {
    this.#api = api;
    this.#process = process;
    this.#options = options;
  }

  close(): void {
    // A killed process has closed its connections, and an ended one has ended its requests.
  }

  async call({ method, path, body, deadlineMs, signal }: KubeRequest): Promise<string> {
    const url = new URL(path, "http://localhost");
    const place = resourcePlace(url.pathname);
    this.#api.count(method.toLowerCase());
    if (this.#options.node !== undefined) this.#api.asked(this.#options.node, method.toLowerCase(), place.resource);
    await this.#travel(signal, deadlineMs);
    if (method === "POST") return "{}";
    if (place.name === undefined) return JSON.stringify(this.#listOf(url));
    const key = placeKey(place);
    const patch = method === "PATCH" ? objectOf(JSON.parse(body ?? "{}")) : undefined;
    const found =
      patch === undefined ? this.#api.get(place.resource, key) : this.#api.annotate(place.resource, key, patch);
    if (found === undefined) throw apiRefusal(404, "NotFound");
    return JSON.stringify(found);
  }

  async items(path: string, { signal, idleMs }: LinesOptions, onItem: (text: string) => void): Promise<string> {
    this.#api.count("list", this.#who(path));
    await this.#travel(signal, idleMs);
    this.#mustFollow(path);
    const url = new URL(path, "http://localhost");
    const list = this.#listOf(url);
    const asked = Number(url.searchParams.get("resourceVersion") ?? 0);
    // A cache that is behind the asked version answers that it has not got there in time.
    if (asked > Number(list.metadata.resourceVersion)) throw apiRefusal(504, "Timeout");
    for (const item of list.items) onItem(JSON.stringify(item));
    return JSON.stringify({ ...list, items: [] });
  }

  async *lines(path: string, options: LinesOptions): AsyncGenerator<string> {
    const url = new URL(path, "http://localhost");
    this.#api.count(url.searchParams.has("sendInitialEvents") ? "streamed list" : "watch", this.#who(path));
    await this.#travel(options.signal, options.idleMs);
    this.#mustFollow(path);
    const list = url.searchParams.has("sendInitialEvents") ? this.#listOf(url) : undefined;
    const asked = Number(url.searchParams.get("resourceVersion") ?? 0);
    const version = list === undefined ? asked : Number(list.metadata.resourceVersion);
    if (asked > version) throw apiRefusal(504, "Timeout");
    options.onOpen?.();
    if (list !== undefined) {
      for (const object of list.items) yield eventText("ADDED", object);
      yield bookmark(version, true);
    }
    yield* this.#changes(url, version, options);
  }

  async *#changes(url: URL, from: number, options: LinesOptions): AsyncGenerator<string> {
    const { resource } = resourcePlace(url.pathname);
    const isWanted = selectedBy(url);
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
      if (!(await this.#change(resource, options, endsMs))) yield bookmark(version, false);
      if (this.#isAway || this.#api.trouble.isFollowAway) throw apiUnreachable();
    }
  }

  /** Waits for a change. False after a minute without any. */
  #change(resource: string, { signal }: LinesOptions, endsMs: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waitMs = Math.min(bookmarkMs, Math.max(0, endsMs - this.#process.monotonicMs()));
    const onAbort = (): void => reject(signal.reason as Error);
    const stopTimer = this.#process.after(waitMs, () => resolve(false));
    const stopListening = this.#api.listen(
      () => {
        if (this.#process.isAlive) this.#process.after(this.#process.random() * 5, () => resolve(true));
        else stopListening();
      },
      this.#options.isSelective === true ? resource : undefined,
    );
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    return promise.finally(() => {
      stopTimer();
      stopListening();
      signal.removeEventListener("abort", onAbort);
    });
  }

  get #isAway(): boolean {
    return this.#api.trouble.isAway || this.#options.link?.isCut === true;
  }

  /** The way to the server and back. Of a server that is away, the host refuses the connection at once. */
  async #travel(signal: AbortSignal | undefined, deadlineMs: number): Promise<void> {
    const { trouble } = this.#api;
    const isBusy = this.#process.random() < trouble.busyShare;
    const waitMs = this.#process.random() * trouble.answerMsMax;
    await this.#process.sleep(Math.min(waitMs, deadlineMs), signal);
    if (this.#isAway || waitMs > deadlineMs) throw apiUnreachable();
    if (isBusy) throw apiRefusal(429, "TooManyRequests", retryAfterMs);
  }

  #who(path: string): { readonly by?: string; readonly resource?: string } {
    const { name } = this.#options;
    if (name === undefined) return {};
    const selector = new URL(path, "http://localhost").searchParams.get("fieldSelector") ?? "";
    return { by: name, resource: `${resourceOf(path)} ${selector}`.trim() };
  }

  #mustFollow(path: string): void {
    if (this.#api.trouble.isFollowAway) throw apiRefusal(429, "TooManyRequests", retryAfterMs);
    if (this.#api.absent.has(resourceOf(path))) throw apiRefusal(404, "NotFound");
  }

  #listOf(url: URL): {
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly JsonObject[];
  } {
    const { items, version } = this.#api.list(resourcePlace(url.pathname).resource, selectedBy(url));
    return { metadata: { resourceVersion: String(version) }, items };
  }
}

function resourceOf(path: string): string {
  const [pathname = ""] = path.split("?");
  return resourcePlace(pathname).resource;
}

function eventText(type: string, object: JsonObject): string {
  return JSON.stringify({ type, object });
}

function bookmark(version: number, endsList: boolean): string {
  const annotations = endsList ? { "k8s.io/initial-events-end": "true" } : {};
  return eventText("BOOKMARK", { metadata: { resourceVersion: String(version), annotations } });
}
