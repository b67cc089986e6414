import { deadline, type Cancel, type Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import type { KubeAccess } from "../access/access.ts";
import { KubeError, kubeStatusOf, type FollowableApi, type KubeRequest, type LinesOptions } from "./api.ts";
import { ItemReader, ItemTooLong } from "./item-reader.ts";
import { ResponseTooLarge, type HttpResponse } from "./http-response.ts";
import { Exchange, ExchangeFailure, type SentRequest } from "./exchange.ts";
import { LineReader, LineTooLong } from "./line-reader.ts";
import { refusalError } from "./refusal.ts";

/** A page of 50 pods has about 1 MiB. A body of more than ten times that is cut off, because the daemon has 96 MiB. */
const bodyBytesMax = 12_582_912;
/** etcd takes at most 1.5 MiB per object, and JSON writes a character such as `<` as six bytes. A pod of these stays below this. */
const lineBytesMax = 12_582_912;
/** Far longer than a working server takes, and shorter than an ADD waits. */
const silentMs = 2_000;
/** A Status object is small, and a proxy's error page need not be read to its end. */
const refusalBytesMax = 65_536;

interface ApiClientOptions {
  readonly access: KubeAccess;
  readonly clock: Clock;
}

/** HTTP to the Kubernetes API, with deadlines, limits and retries of its own. */
export class ApiClient implements FollowableApi {
  readonly #access: KubeAccess;
  readonly #clock: Clock;
  readonly #exchange: Exchange;

  constructor({ access, clock }: ApiClientOptions) {
    this.#access = access;
    this.#clock = clock;
    this.#exchange = new Exchange(access.server);
  }

  async call(request: KubeRequest): Promise<string> {
    const tooLate = (): Error =>
      new KubeError(
        "api-unreachable",
        `Cannot ${this.#doing(request)}: no answer came within ${request.deadlineMs} ms`,
      );
    const startedMs = this.#clock.monotonicMs();
    using limit = deadline(this.#clock, request.deadlineMs, tooLate, request.signal);
    try {
      const response = await this.#ask(request, limit.signal);
      return await response.text(bodyBytesMax);
    } catch (thrown) {
      // Idle connections lead to the same silent server. A caller that aborted early proves nothing about the server.
      const waitedMs = this.#clock.monotonicMs() - startedMs;
      if (limit.signal.aborted && waitedMs >= Math.min(silentMs, request.deadlineMs)) this.#exchange.dropIdle();
      throw this.#explain(this.#doing(request), thrown, limit.signal);
    }
  }

  async *lines(path: string, options: LinesOptions): AsyncGenerator<string> {
    const reader = new LineReader(lineBytesMax);
    using _room = this.#exchange.roomForWatch();
    using stream = new Stream(this.#clock, options, this.#doing({ method: "GET", path }));
    try {
      for await (const part of await this.#open(path, stream, options)) {
        stream.heard();
        yield* reader.push(part);
      }
    } catch (thrown) {
      throw this.#explain(stream.doing, thrown, stream.signal);
    }
    if (reader.pendingBytes > 0) throw this.#cutShort(path, "the connection ended in the middle of a line");
  }

  async items(path: string, options: LinesOptions, onItem: (text: string) => void): Promise<string> {
    const reader = new ItemReader();
    using stream = new Stream(this.#clock, options, this.#doing({ method: "GET", path }));
    try {
      for await (const part of await this.#open(path, stream, options)) {
        stream.heard();
        for (const item of reader.push(part)) onItem(item);
      }
    } catch (thrown) {
      throw this.#explain(stream.doing, thrown, stream.signal);
    }
    if (!reader.isWhole) throw this.#cutShort(path, "the answer ended in the middle of a list");
    return reader.frame();
  }

  async #open(path: string, { signal }: Stream, { onOpen }: LinesOptions): Promise<AsyncGenerator<Buffer>> {
    const response = await this.#ask({ method: "GET", path }, signal);
    onOpen?.();
    return response.parts();
  }

  #cutShort(path: string, why: string): KubeError {
    return new KubeError("api-unreachable", `Cannot ${this.#doing({ method: "GET", path })}: ${why}`);
  }

  /** Cuts every connection, also those of running watches. */
  close(): void {
    this.#exchange.close();
  }

  /** Resolves with the head of a 2xx answer. Retries once after a rotated token or a connection that died while idle. */
  async #ask(request: SentRequest, signal: AbortSignal): Promise<HttpResponse> {
    try {
      return await this.#attempt(request, signal);
    } catch (thrown) {
      if (signal.aborted || !this.#isWorthRetry(request, thrown)) throw thrown;
      return await this.#attempt(request, signal);
    }
  }

  #isWorthRetry(request: SentRequest, thrown: unknown): boolean {
    if (kubeStatusOf(thrown) === 401) {
      this.#access.renew();
      return true;
    }
    // Only a GET: any other request may have been carried out.
    return request.method === "GET" && thrown instanceof ExchangeFailure && thrown.isReusedSocket;
  }

  async #attempt(request: SentRequest, signal: AbortSignal): Promise<HttpResponse> {
    const credentials = await this.#access.credentials();
    const response = await this.#exchange.send(request, credentials, signal);
    const { status, retryAfter } = response.head;
    if (status >= 200 && status < 300) return response;
    const body = await response.text(refusalBytesMax).catch(() => "");
    signal.throwIfAborted();
    throw refusalError({ doing: this.#doing(request), status, retryAfter, body, wallMs: this.#clock.wallMs() });
  }

  #doing({ method, path }: Pick<KubeRequest, "method" | "path">): string {
    return `${method} ${this.#access.server}${path.replace(/\?.*$/, "")}`;
  }

  /** The signal's reason comes first: the error of a cut connection is only its consequence. */
  #explain(doing: string, thrown: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (thrown instanceof KubeError) return thrown;
    const cause = thrown instanceof ExchangeFailure ? thrown.cause : thrown;
    const words = cause instanceof Error ? cause.message : String(cause);
    const errno = errnoOf(cause) ?? "";
    const why = errno === "" || words.includes(errno) ? words : `${words} (${errno})`;
    const tooLarge = [ResponseTooLarge, LineTooLong, ItemTooLong];
    const reason = tooLarge.some((kind) => cause instanceof kind) ? tooLargeReason : "";
    return new KubeError("api-unreachable", `Cannot ${doing}: ${why}`, { cause, reason });
  }
}

/** The reason of an error about an answer over the client's limit: asking for less may help. */
export const tooLargeReason = "ResponseTooLarge";

/** A long answer. Aborts when no data comes for too long, or when the caller aborts. */
class Stream implements Disposable {
  /** The request, for messages. */
  readonly doing: string;
  readonly #controller = new AbortController();
  readonly #start: () => Cancel;
  readonly #parent: AbortSignal;
  readonly #onParent = (): void => this.#controller.abort(this.#parent.reason);
  #cancel: Cancel;

  constructor(clock: Clock, { idleMs, signal }: LinesOptions, doing: string) {
    this.doing = doing;
    this.#parent = signal;
    const silent = (): Error => new KubeError("api-unreachable", `Cannot ${doing}: no data came for ${idleMs} ms`);
    this.#start = () => clock.after(idleMs, () => this.#controller.abort(silent()));
    this.#cancel = this.#start();
    if (signal.aborted) this.#onParent();
    signal.addEventListener("abort", this.#onParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.#cancel();
    this.#cancel = this.#start();
  }

  [Symbol.dispose](): void {
    this.#cancel();
    this.#parent.removeEventListener("abort", this.#onParent);
  }
}
