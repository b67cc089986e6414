import { KubeError, type FollowableApi, type KubeRequest, type LinesOptions } from "./api.ts";

/** An API server in memory: lists are answered by a function, watches are driven by the test. */
export class FakeApi implements FollowableApi {
  /** Whether a watch may begin with the list, as servers from 1.34 on allow. */
  streamsLists = false;
  readonly calls: URL[] = [];
  readonly watches: FakeWatch[] = [];
  /** Refuses the next watches, one after the other. */
  readonly watchErrors: Error[] = [];
  onCall: (url: URL) => unknown = () => page("1", []);

  async call({ path, signal }: KubeRequest): Promise<string> {
    const url = new URL(path, "http://localhost");
    this.calls.push(url);
    signal?.throwIfAborted();
    const body = await this.onCall(url);
    return typeof body === "string" ? body : JSON.stringify(body);
  }

  async items(path: string, { signal }: LinesOptions, onItem: (text: string) => void): Promise<string> {
    const text = await this.call({ method: "GET", path, signal, deadlineMs: 1_000 });
    const list = JSON.parse(text) as { items: readonly unknown[] | null };
    for (const item of list.items ?? []) onItem(JSON.stringify(item));
    return JSON.stringify({ ...list, items: [] });
  }

  async *lines(path: string, options: LinesOptions): AsyncGenerator<string> {
    const isStreamed = new URL(path, "http://localhost").searchParams.has("sendInitialEvents");
    if (isStreamed && !this.streamsLists) throw notOffered();
    const error = this.watchErrors.shift();
    if (error !== undefined) throw error;
    const watch = new FakeWatch(new URL(path, "http://localhost"), options);
    this.watches.push(watch);
    options.onOpen?.();
    yield* watch.lines();
  }

  /** The newest watch. */
  get watch(): FakeWatch {
    const watch = this.watches.at(-1);
    if (watch === undefined) throw new Error("no watch is open");
    return watch;
  }
}

export class FakeWatch {
  readonly url: URL;
  readonly options: LinesOptions;
  #queue: (string | Error | undefined)[] = [];
  #wake: () => void = () => undefined;

  constructor(url: URL, options: LinesOptions) {
    this.url = url;
    this.options = options;
    options.signal.addEventListener("abort", () => this.#add(options.signal.reason as Error));
  }

  get from(): string | null {
    return this.url.searchParams.get("resourceVersion");
  }

  event(type: string, object: unknown): void {
    this.#add(JSON.stringify({ type, object }));
  }

  line(text: string): void {
    this.#add(text);
  }

  fail(error: Error): void {
    this.#add(error);
  }

  end(): void {
    this.#add(undefined);
  }

  async *lines(): AsyncGenerator<string> {
    while (true) {
      while (this.#queue.length === 0)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (next instanceof Error) throw next;
      yield next;
    }
  }

  #add(item: string | Error | undefined): void {
    this.#queue.push(item);
    this.#wake();
  }
}

export function page(resourceVersion: string, items: readonly unknown[] | null, next = ""): unknown {
  return { metadata: { resourceVersion, continue: next }, items };
}

function notOffered(): KubeError {
  return new KubeError("api-refused", "sendInitialEvents is forbidden", { status: 422, reason: "Invalid" });
}

export function gone(): KubeError {
  return new KubeError("api-refused", "too old", { status: 410, reason: "Expired" });
}
