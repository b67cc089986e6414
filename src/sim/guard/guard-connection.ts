import type { KubeRequest } from "../../kube/client/api.ts";
import { apiRefusal, apiUnreachable } from "../api/api-errors.ts";
import { SimApiClient } from "../api/sim-api-client.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { Seeded } from "../time/seeded.ts";
import type { SimProcess } from "../time/sim-process.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { ApiServer } from "./api-server.ts";
import type { ApiUser } from "./api-user.ts";

/** The way from one process to the API server. */
export interface ServerLink {
  /** Nothing gets through. */
  isCut: boolean;
  /** The share of requests that take long, and how long at most. */
  lateShare: number;
  lateMs: number;
}

interface ConnectionOptions {
  readonly api: SimApi;
  readonly server: ApiServer;
  readonly time: SimTime;
  readonly process: SimProcess;
  readonly seeded: Seeded;
  readonly user: ApiUser;
  readonly link: ServerLink;
}

type Answer = (resolve: (text: string) => void, reject: (thrown: unknown) => void) => void;

/** The server asks for this pause with a 429. */
const retryAfterMs = 1_000;

/**
 * The API server as a guard sees it. A request and its answer travel by themselves: one that is on its way arrives although
 * its sender is dead, stands still, or has given up, and an answer may be lost after the write.
 */
export class GuardConnection extends SimApiClient {
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    super(options.api, options.process, { link: options.link, isSelective: true, name: options.user.name });
    this.#options = options;
  }

  override call(request: KubeRequest): Promise<string> {
    const { time, process, api } = this.#options;
    const { deadlineMs, signal } = request;
    api.count(request.method.toLowerCase());
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const onAbort = (): void => reject(signal?.reason as Error);
    signal?.addEventListener("abort", onAbort, { once: true });
    const stopTimer = process.after(deadlineMs, () => reject(apiUnreachable()));
    const sentMs = time.nowMs;
    time.after(this.#wayMs(), () => {
      // Behind a cut there is nobody. The host of a server that is away refuses at once.
      if (this.#options.link.isCut) return;
      if (api.trouble.isAway) return void process.soon(0, () => reject(apiUnreachable()));
      const answer = this.#arrive(request, sentMs);
      // An answer that is lost never comes, and its sender waits until its deadline.
      time.after(this.#wayMs(), () => this.#isAway || process.soon(0, () => answer(resolve, reject)));
    });
    return promise.finally(() => {
      stopTimer();
      signal?.removeEventListener("abort", onAbort);
    });
  }

  /** What the server does, and what its answer will say. */
  #arrive(request: KubeRequest, sentMs: number): Answer {
    const { api, server, seeded, user } = this.#options;
    const refused =
      (thrown: unknown): Answer =>
      (_resolve, reject) =>
        reject(thrown);
    if (seeded.chance(api.trouble.busyShare)) return refused(apiRefusal(429, "TooManyRequests", retryAfterMs));
    try {
      const text = server.answer(user, { ...request, sentMs });
      return (resolve) => resolve(text);
    } catch (thrown) {
      return refused(thrown);
    }
  }

  get #isAway(): boolean {
    return this.#options.api.trouble.isAway || this.#options.link.isCut;
  }

  #wayMs(): number {
    const { api, seeded, link } = this.#options;
    if (seeded.chance(link.lateShare)) return seeded.between(0, link.lateMs);
    return seeded.next() * (api.trouble.answerMsMax / 2);
  }
}
