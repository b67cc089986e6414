import { deadline } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import { KubeError, kubeStatusOf } from "../client/api.ts";
import { backOffMs, type BackOffBounds } from "../back-off.ts";
import { Comparison, type Listed } from "./comparison.ts";
import { followPause } from "./follow-pause.ts";
import { listCached } from "./list-cached.ts";
import { listPages } from "./list-pages.ts";
import { keyOf, ObjectStore, type Named } from "./object-store.ts";
import { HealthFacts, type ReflectorHealth } from "./reflector-health.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { isGone } from "../client/refusal.ts";
import { isEndOfList, isStreamRefused, watchRequest } from "./watch-request.ts";
import { isUnreadable, parseWatchEvent, type WatchEvent } from "./watch-event.ts";

/** How long after its time a watch may go on. After that the server counts as gone. */
const watchGraceMs = 30_000;
/** The server sends a bookmark about once a minute. If more than two are missing, the connection is dead. */
const watchIdleMs = 150_000;
/** After a watch of at least this length, the next pause is short again. */
const goodWatchMs = 60_000;
/** A streamed list comes from memory. If its end is still missing by then, the server does not mark it. */
const streamedListMs = 60_000;
/** After this many consecutive refusals a new list is taken. */
const refusalsMax = 3;

/**
 * A local copy of one resource that follows the API server: a list, then a watch from there on. Where the server can, one
 * watch brings both. It never stops trying, and keeps its copy through every error.
 */
export class Reflector<T extends Named> {
  readonly store: ObjectStore<T>;
  readonly #options: ReflectorOptions<T>;
  readonly #health: HealthFacts;
  readonly #closing = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  /** The resourceVersion at which the watch continues; undefined when a list must come first. */
  #position: string | undefined;
  /** The newest resourceVersion it has seen. A later list must not go back behind it. */
  #seen: string | undefined;
  /** Whether the server is asked to begin a watch with the list. */
  #isStreaming: boolean;
  /** The part of a streamed list that has come. */
  #listing: Map<string, T> | undefined;
  #watching: AbortController | undefined;
  readonly #comparison: Comparison<T>;
  #failures = 0;
  /** An outage has ended with an expired place since the last good watch. */
  #isForgiven = false;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#isStreaming = options.isCached !== false;
    this.#health = new HealthFacts(options.resource, options.clock, options.logger);
    this.store = new ObjectStore(options.isSame, (thrown) => this.#logFailure("A listener failed", thrown));
    this.#comparison = new Comparison({
      clock: options.clock,
      store: this.store,
      health: this.#health,
      closing: this.#closing.signal,
      list: () => this.#list(this.#seen),
      watching: () => this.#watching,
      onMissed: (position) => this.#restartAt(position),
      onFailure: (thrown) => this.#logFailure("A list could not be compared with the watch", thrown),
    });
  }

  start(): void {
    this.#ended = Promise.all([this.#follow(), this.#comparison.run()]);
  }

  /** Resolves when the first list is complete. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** The server has no such resource, and never had one since the start. */
  get isAbsent(): boolean {
    return this.#health.lists === 0 && this.#health.isAbsent;
  }

  health(): ReflectorHealth {
    return this.#health.facts(this.store.size);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("closed"));
    this.#watching?.abort(new Error("closed"));
    await this.#ended;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      const pause = await this.#followOnce();
      if (this.#isClosed) return;
      this.#failures += 1;
      await this.#sleep(backOffMs(this.#options.clock, this.#failures, pause));
    }
  }

  /** Takes a list if one is due, then one watch to its end. Resolves with the bounds of the pause after it. */
  async #followOnce(): Promise<BackOffBounds> {
    try {
      if (this.#position === undefined && !this.#isStreaming) await this.#takeList();
      await this.#watch();
      return followPause(this.#options, this.#health);
    } catch (thrown) {
      if (this.#isClosed || thrown === restart) return followPause(this.#options, this.#health);
      if (this.#stopsStreaming(thrown)) return await this.#followOnce();
      this.#failed(thrown);
      return followPause(this.#options, this.#health, thrown);
    }
  }

  /** Whether a plain list is to be taken at once, because the server cannot begin a watch with one. */
  #stopsStreaming(thrown: unknown): boolean {
    if (this.#position !== undefined || !this.#isStreaming) return false;
    this.#isStreaming = thrown !== noEndOfList && !isStreamRefused(thrown);
    return !this.#isStreaming;
  }

  #failed(thrown: unknown): void {
    // An expired resourceVersion is no failure: the next list makes up for it.
    if (!isGone(thrown)) this.#health.failed(thrown);
    // A restored etcd is behind the place it is asked for, and answers that it has not got there in time.
    if (this.#position === undefined && kubeStatusOf(thrown) === 504) this.#seen = undefined;
    if (this.#needsList(thrown)) this.#position = undefined;
    // The server has answered, so the outage is over and the list is due soon; once, because it may expire again and again.
    if (isGone(thrown) && !this.#isForgiven) this.#failures = Math.min(this.#failures, 1);
    this.#isForgiven ||= isGone(thrown);
    this.#health.reconnecting();
  }

  /** A resourceVersion that is refused again and again is useless too: etcd may have been restored from a backup. */
  #needsList(thrown: unknown): boolean {
    if (isGone(thrown)) return true;
    // A broken line may come whole the next time. If it comes broken again, it is like that on the server.
    if (isUnreadable(thrown)) return this.#failures > 0;
    const status = kubeStatusOf(thrown);
    return status !== undefined && status !== 429 && this.#failures >= refusalsMax;
  }

  async #takeList(): Promise<void> {
    this.#takeOver(await this.#list(this.#seen));
  }

  #takeOver({ listed, position }: Listed<T>): void {
    this.store.replace(listed);
    this.#moveTo(position);
    this.#health.listed();
    this.#synced.resolve();
  }

  #moveTo(position: string): void {
    this.#position = position;
    this.#seen = position;
  }

  async #list(notOlderThan: string | undefined): Promise<Listed<T>> {
    const { api, path, query = {}, project, isCached = true } = this.#options;
    const listed = new Map<string, T>();
    const signal = this.#closing.signal;
    const take = (item: unknown): void => {
      const object = project(item);
      if (object !== undefined) listed.set(keyOf(object.namespace, object.name), this.store.known(object));
    };
    const position = isCached
      ? await listCached({ api, path, query, signal, notOlderThan }, take)
      : await listPages({ api, path, query, signal }, take);
    return { listed, position };
  }

  async #watch(): Promise<void> {
    const { api, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const { url, seconds } = watchRequest(this.#options, { position: this.#position, seen: this.#seen });
    const tooLong = (): Error =>
      new KubeError("api-unreachable", `Cannot ${this.#doing()}: the server did not end the watch after ${seconds} s`);
    const watching = new AbortController();
    this.#watching = watching;
    using limit = deadline(clock, seconds * 1000 + watchGraceMs, tooLong, watching.signal);
    const isStreamed = this.#position === undefined;
    if (isStreamed) this.#listing = new Map();
    const stopWaiting = clock.after(streamedListMs, () => {
      if (this.#listing !== undefined) watching.abort(noEndOfList);
    });
    // A streamed list may still be refused after the server has accepted the watch.
    const onOpen = (): void => void (isStreamed || this.#health.opened());
    try {
      const lines = api.lines(url, { signal: limit.signal, idleMs: watchIdleMs, onOpen });
      for await (const line of lines) this.#apply(parseWatchEvent(this.#doing(), line));
    } finally {
      stopWaiting();
      this.#watching = undefined;
      this.#listing = undefined;
      if (clock.monotonicMs() - startedMs >= goodWatchMs) [this.#failures, this.#isForgiven] = [0, false];
    }
  }

  #apply(event: WatchEvent): void {
    const { type, object, resourceVersion } = event;
    this.#health.works();
    if (this.#listing !== undefined && isEndOfList(event)) {
      this.#takeOver({ listed: this.#listing, position: resourceVersion });
      this.#listing = undefined;
    }
    if (this.#listing === undefined) this.#moveTo(resourceVersion);
    const projected = type === "bookmark" ? undefined : this.#options.project(object);
    if (projected === undefined) return;
    const key = keyOf(projected.namespace, projected.name);
    if (this.#listing !== undefined) {
      if (type === "delete") this.#listing.delete(key);
      else this.#listing.set(key, this.store.known(projected));
      return;
    }
    this.#comparison.heard(key);
    if (type === "delete") this.store.remove(projected.namespace, projected.name);
    else this.store.put(projected);
  }

  /** A watch that missed events is replaced. */
  #restartAt(position: string): void {
    this.#moveTo(position);
    this.#watching?.abort(restart);
  }

  #doing(): string {
    return `watch ${this.#options.resource}`;
  }

  /** Resolves early when closed. */
  async #sleep(ms: number): Promise<void> {
    await this.#options.clock.sleep(ms, this.#closing.signal).catch(() => undefined);
  }

  #logFailure(what: string, thrown: unknown): void {
    const { logger, resource } = this.#options;
    logger.warn(what, { resource, error: toLeveeError(thrown, what).message });
  }
}

/** Aborts a watch that has missed events. */
const restart = new Error("the watch is restarted");
/** Aborts a watch that should have begun with a list. */
const noEndOfList = new Error("the list in the watch has no end");
