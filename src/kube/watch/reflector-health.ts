import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { KubeError } from "../client/api.ts";

/** How well the local copy of one resource follows the API server. */
export interface ReflectorHealth {
  readonly resource: string;
  readonly objects: number;
  /** There has been a complete list. */
  readonly isSynced: boolean;
  readonly lists: number;
  /** Lists and watches that were restarted after an error. Planned ends do not count. */
  readonly reconnects: number;
  /** Differences that a periodic list found without an event. */
  readonly missedEvents: number;
  /** Time since the last event, bookmark or list; undefined before the first. */
  readonly lastEventAgeMs: number | undefined;
  /** Why list or watch fails; undefined while it works. */
  readonly lastError: string | undefined;
  /** Since when it has failed, on the wall clock; undefined while it works. */
  readonly failingSinceMs: number | undefined;
  /** No answer comes at all, as opposed to a refusal. */
  readonly isUnreachable: boolean;
  /** The server says that we may not, as opposed to "not now". */
  readonly isForbidden: boolean;
  /** The server has no such resource: the CRD is not installed. */
  readonly isAbsent: boolean;
}

/** A server that starts accepts watches and refuses them in the next breath; one that is open for longer has no news. */
const toldMs = 5_000;

/** Keeps the facts of one reflector. It logs when the reflector stops working and when it works again, not each attempt. */
export class HealthFacts {
  readonly #resource: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #lists = 0;
  #reconnects = 0;
  #missedEvents = 0;
  #heardAtMs: number | undefined;
  /** When something was heard before the watch that has been opened and has told nothing yet. */
  #opened: { readonly before: number | undefined } | undefined;
  #failure: Failure | undefined;

  constructor(resource: string, clock: Clock, logger: Logger) {
    this.#resource = resource;
    this.#clock = clock;
    this.#logger = logger;
  }

  get lists(): number {
    return this.#lists;
  }

  listed(): void {
    this.#lists += 1;
    this.works();
  }

  heard(): void {
    this.#heardAtMs = this.#clock.monotonicMs();
    this.#opened = undefined;
  }

  /** The server has accepted a watch. If the watch ends with an error at once, it has told nothing. */
  opened(): void {
    const before = this.#heardAtMs;
    this.works();
    this.#opened = { before };
  }

  missed(events: number): void {
    this.#missedEvents += events;
    this.#logger.warn("The watch had missed events; the list has corrected them", {
      resource: this.#resource,
      events,
    });
  }

  reconnecting(): void {
    this.#reconnects += 1;
  }

  works(): void {
    this.heard();
    if (this.#failure === undefined) return;
    const failedMs = Math.round(this.#clock.wallMs() - this.#failure.sinceMs);
    this.#failure = undefined;
    this.#logger.info("The API server is followed again", { resource: this.#resource, failedMs });
  }

  failed(thrown: unknown): void {
    if (this.#opened !== undefined && this.#clock.monotonicMs() - (this.#heardAtMs ?? 0) < toldMs)
      this.#heardAtMs = this.#opened.before;
    this.#opened = undefined;
    const error = toLeveeError(thrown, `Cannot follow ${this.#resource}`).message;
    const isUnreachable = !(thrown instanceof KubeError) || thrown.code === "api-unreachable";
    const status = thrown instanceof KubeError ? thrown.status : undefined;
    if (this.#failure === undefined) this.#logFailure(error, status);
    const sinceMs = this.#failure?.sinceMs ?? this.#clock.wallMs();
    this.#failure = { error, sinceMs, isUnreachable, status };
  }

  /** A cluster without the resource may be meant to be so. Code that needs the resource tells about it elsewhere. */
  #logFailure(error: string, status: number | undefined): void {
    const resource = this.#resource;
    if (status === 404 && this.#lists === 0)
      this.#logger.info("The cluster has no such resource; looking for it now and then", { resource });
    else this.#logger.warn("The API server cannot be followed; trying again", { resource, error });
  }

  get isAbsent(): boolean {
    return this.#failure?.status === 404;
  }

  facts(objects: number): ReflectorHealth {
    const failure = this.#failure;
    return {
      resource: this.#resource,
      objects,
      isSynced: this.#lists > 0,
      lists: this.#lists,
      reconnects: this.#reconnects,
      missedEvents: this.#missedEvents,
      lastEventAgeMs: this.#heardAtMs === undefined ? undefined : this.#clock.monotonicMs() - this.#heardAtMs,
      lastError: failure?.error,
      failingSinceMs: failure?.sinceMs,
      isUnreachable: failure?.isUnreachable ?? false,
      isForbidden: failure?.status === 401 || failure?.status === 403,
      isAbsent: this.isAbsent,
    };
  }
}

interface Failure {
  readonly error: string;
  readonly sinceMs: number;
  readonly isUnreachable: boolean;
  readonly status: number | undefined;
}
