import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { KubeError } from "../client/api.ts";
import type { ReflectorHealth } from "./facts.ts";

/** Keeps the facts of one reflector, and logs when it stops working and when it works again: not each attempt. */
export class HealthFacts {
  readonly #resource: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #lists = 0;
  #reconnects = 0;
  #missedEvents = 0;
  #heardAtMs: number | undefined;
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

  /** Something came: an event, a bookmark, a list. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonicMs();
  }

  missed(events: number): void {
    this.#missedEvents += events;
    this.#logger.warn("the watch had missed events; the list has corrected them", {
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
    this.#logger.info("the API server is followed again", { resource: this.#resource, failedMs });
  }

  failed(thrown: unknown): void {
    const error = toLeveeError(thrown, `Cannot follow ${this.#resource}`).message;
    const isUnreachable = !(thrown instanceof KubeError) || thrown.code === "api-unreachable";
    const status = thrown instanceof KubeError ? thrown.status : undefined;
    if (this.#failure === undefined) this.#tell(error, status);
    const sinceMs = this.#failure?.sinceMs ?? this.#clock.wallMs();
    this.#failure = { error, sinceMs, isUnreachable, status };
  }

  /** A resource that never was there is the cluster's choice; whoever needs it says so elsewhere. */
  #tell(error: string, status: number | undefined): void {
    const resource = this.#resource;
    if (status === 404 && this.#lists === 0)
      this.#logger.info("the cluster has no such resource; it is looked for now and then", { resource });
    else this.#logger.warn("the API server cannot be followed; trying again", { resource, error });
  }

  /** The server says that there is no such resource: its definition is not installed. */
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
