import { deadline, type Cancel, type Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import type { KubeAccess } from "../access/access.ts";
import { KubeError, kubeStatusOf, type KubeApi, type KubeRequest, type LinesOptions } from "./api.ts";
import { AnswerTooLarge, type Answer } from "./answer.ts";
import { Exchange, ExchangeFailure, type SentRequest } from "./exchange.ts";
import { LineReader, LineTooLong } from "./line-reader.ts";
import { refusalError } from "./refusal.ts";

/** A page of 50 pods is about 1 MiB; ten times that must not fill a daemon of 96 MiB, so a longer body is cut off. */
const bodyBytesMax = 12_582_912;
/** etcd holds at most 1.5 MiB per object, and JSON makes six bytes of one such as `<`: a pod of them stays below this. */
const lineBytesMax = 12_582_912;
/** Far more than any answer takes that is going to come, and less than an ADD waits for one. */
const silentMs = 2_000;
/** A Status object is small; a proxy's error page need not be read to its end. */
const refusalBytesMax = 65_536;

export interface ApiClientOptions {
  readonly access: KubeAccess;
  readonly clock: Clock;
}

/** The HTTP side of the Kubernetes API, with our own deadlines, limits and retries, and nothing else. */
export class ApiClient implements KubeApi {
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
        `Cannot ${this.#doing(request)}: it was not answered within ${request.deadlineMs} ms`,
      );
    const startedMs = this.#clock.monotonicMs();
    using limit = deadline(this.#clock, request.deadlineMs, tooLate, request.signal);
    try {
      const answer = await this.#ask(request, limit.signal);
      return await answer.text(bodyBytesMax);
    } catch (thrown) {
      // Those that are idle lead to the same silent server. A caller who soon had its answer elsewhere proves nothing.
      const waitedMs = this.#clock.monotonicMs() - startedMs;
      if (limit.signal.aborted && waitedMs >= Math.min(silentMs, request.deadlineMs)) this.#exchange.dropIdle();
      throw this.#explain(this.#doing(request), thrown, limit.signal);
    }
  }

  async *lines(path: string, options: LinesOptions): AsyncGenerator<string> {
    const doing = this.#doing({ method: "GET", path });
    const silent = (): Error =>
      new KubeError("api-unreachable", `Cannot ${doing}: nothing was heard for ${options.idleMs} ms`);
    using idle = new IdleLimit(this.#clock, options, silent);
    const reader = new LineReader(lineBytesMax);
    try {
      const answer = await this.#ask({ method: "GET", path }, idle.signal);
      options.onOpen?.();
      for await (const part of answer.parts()) {
        idle.heard();
        yield* reader.push(part);
      }
      if (reader.pendingBytes > 0) throw new Error("the connection ended in the middle of a line");
    } catch (thrown) {
      throw this.#explain(doing, thrown, idle.signal);
    }
  }

  /** Cuts every connection, those of running watches too. */
  close(): void {
    this.#exchange.close();
  }

  /** The head of a 2xx answer. A rotated token and a connection that died while idle are each tried once more. */
  async #ask(request: SentRequest, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.#attempt(request, signal);
    } catch (thrown) {
      if (signal.aborted || !this.#isWorthAnother(request, thrown)) throw thrown;
      return await this.#attempt(request, signal);
    }
  }

  #isWorthAnother(request: SentRequest, thrown: unknown): boolean {
    if (kubeStatusOf(thrown) === 401) {
      this.#access.renew();
      return true;
    }
    // Only a GET: whether another request has been carried out is not known.
    return request.method === "GET" && thrown instanceof ExchangeFailure && thrown.isReusedSocket;
  }

  async #attempt(request: SentRequest, signal: AbortSignal): Promise<Answer> {
    const credentials = await this.#access.credentials();
    const answer = await this.#exchange.send(request, credentials, signal);
    const { status, retryAfter } = answer.head;
    if (status >= 200 && status < 300) return answer;
    const body = await answer.text(refusalBytesMax).catch(() => "");
    signal.throwIfAborted();
    throw refusalError({ doing: this.#doing(request), status, retryAfter, body, wallMs: this.#clock.wallMs() });
  }

  #doing({ method, path }: Pick<KubeRequest, "method" | "path">): string {
    return `${method} ${this.#access.server}${path.replace(/\?.*$/, "")}`;
  }

  /** The signal's own reason comes first: what a cut connection says is only its consequence. */
  #explain(doing: string, thrown: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (thrown instanceof KubeError) return thrown;
    const cause = thrown instanceof ExchangeFailure ? thrown.cause : thrown;
    const words = cause instanceof Error ? cause.message : String(cause);
    const errno = errnoOf(cause) ?? "";
    const why = errno === "" || words.includes(errno) ? words : `${words} (${errno})`;
    const reason = cause instanceof AnswerTooLarge || cause instanceof LineTooLong ? tooLargeReason : "";
    return new KubeError("api-unreachable", `Cannot ${doing}: ${why}`, { cause, reason });
  }
}

/** The reason of an answer that was cut off at our own limit: asking for less may help. */
export const tooLargeReason = "AnswerTooLarge";

/** Aborts when nothing is heard for too long, or when the caller does. */
class IdleLimit implements Disposable {
  readonly #controller = new AbortController();
  readonly #start: () => Cancel;
  readonly #parent: AbortSignal;
  readonly #onParent = (): void => this.#controller.abort(this.#parent.reason);
  #cancel: Cancel;

  constructor(clock: Clock, { idleMs, signal }: LinesOptions, silent: () => Error) {
    this.#parent = signal;
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
