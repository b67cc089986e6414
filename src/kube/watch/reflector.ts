import { deadline } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import { KubeError, kubeStatusOf } from "../client/api.ts";
import { backOffMs } from "../back-off.ts";
import { listPages } from "./list-pages.ts";
import { keyOf, ObjectStore, type Named } from "./object-store.ts";
import { HealthFacts, type ReflectorHealth } from "./reflector-health.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { isGone } from "../client/refusal.ts";
import { isUnreadable, parseWatchEvent, type WatchEvent } from "./watch-event.ts";

/** A watch ends after a random time, so that the watches of a thousand nodes do not end together. */
const watchSeconds = { min: 300, max: 600 };
/** Without bookmarks a watch ends before its silence could mean a dead connection. */
const silentWatchSeconds = { min: 60, max: 120 };
/** How long after its time a watch may go on. After that the server counts as gone. */
const watchGraceMs = 30_000;
/** The server sends a bookmark about once a minute. If more than two are missing, the connection is dead. */
const watchIdleMs = 150_000;
/** After a watch of at least this length, the next pause is short again. */
const goodWatchMs = 10_000;
/** After this many consecutive refusals a new list is taken. */
const refusalsMax = 3;
const pause = { firstMs: 500, longestMs: 30_000 };
/** How often to compare a list with the copy, give or take a tenth. */
const compareMs = 600_000;
/** An event that was on its way during the list arrives within this time. Otherwise it was missed. */
const eventDelayMs = 5000;

/**
 * A local copy of one resource that follows the API server: a list in pages, then a watch from there on. It never stops
 * trying, and keeps its copy through every error.
 */
export class Reflector<T extends Named> {
  readonly store: ObjectStore<T>;
  readonly #options: ReflectorOptions<T>;
  readonly #health: HealthFacts;
  readonly #closing = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  /** The resourceVersion at which the watch continues; undefined when a list must come first. */
  #position: string | undefined;
  #watching: AbortController | undefined;
  /** The keys of objects with an event while a list is being compared. */
  #touched: Set<string> | undefined;
  #failures = 0;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#health = new HealthFacts(options.resource, options.clock, options.logger);
    this.store = new ObjectStore(options.isSame, (thrown) => this.#logFailure("A listener failed", thrown));
  }

  start(): void {
    this.#ended = Promise.all([this.#follow(), this.#compareNowAndThen()]);
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
      const afterMs = await this.#followOnce();
      if (this.#isClosed) return;
      this.#failures += 1;
      const pauseMs = backOffMs(this.#options.clock, this.#failures, { ...pause, afterMs });
      await this.#sleep(pauseMs);
    }
  }

  /** Takes a list if one is due, then one watch to its end. Resolves with the pause that the server asks for. */
  async #followOnce(): Promise<number | undefined> {
    try {
      if (this.#position === undefined) await this.#takeList();
      await this.#watch();
      return undefined;
    } catch (thrown) {
      if (this.#isClosed || thrown === restart) return undefined;
      // An expired resourceVersion is no failure: the next list makes up for it.
      if (!isGone(thrown)) this.#health.failed(thrown);
      if (this.#needsList(thrown)) this.#position = undefined;
      // The server has answered, so the outage is over and the list is due soon.
      if (isGone(thrown)) this.#failures = Math.min(this.#failures, 1);
      this.#health.reconnecting();
      return thrown instanceof KubeError ? thrown.retryAfterMs : undefined;
    }
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
    const { listed, position } = await this.#list();
    this.store.replace(listed);
    this.#position = position;
    this.#health.listed();
    this.#synced.resolve();
  }

  async #list(): Promise<{ listed: Map<string, T>; position: string }> {
    const { api, path, query = {}, project, pageItems } = this.#options;
    const listed = new Map<string, T>();
    const position = await listPages({ api, path, query, pageItems, signal: this.#closing.signal }, (item) => {
      const object = project(item);
      if (object !== undefined) listed.set(keyOf(object.namespace, object.name), this.store.known(object));
    });
    return { listed, position };
  }

  async #watch(): Promise<void> {
    const { api, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const { min, max } = this.#options.hasBookmarks === false ? silentWatchSeconds : watchSeconds;
    const seconds = Math.round(min + clock.random() * (max - min));
    const tooLong = (): Error =>
      new KubeError("api-unreachable", `Cannot ${this.#doing()}: the server did not end the watch after ${seconds} s`);
    const watching = new AbortController();
    this.#watching = watching;
    using limit = deadline(clock, seconds * 1000 + watchGraceMs, tooLong, watching.signal);
    const onOpen = (): void => this.#health.works();
    try {
      const lines = api.lines(this.#watchPath(seconds), { signal: limit.signal, idleMs: watchIdleMs, onOpen });
      for await (const line of lines) this.#apply(parseWatchEvent(this.#doing(), line));
    } finally {
      this.#watching = undefined;
      if (clock.monotonicMs() - startedMs >= goodWatchMs) this.#failures = 0;
    }
  }

  #watchPath(seconds: number): string {
    const query = new URLSearchParams({
      ...this.#options.query,
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(seconds),
      resourceVersion: this.#position ?? "",
    });
    return `${this.#options.path}?${query.toString()}`;
  }

  #apply({ type, object, resourceVersion }: WatchEvent): void {
    this.#health.works();
    this.#position = resourceVersion;
    const projected = type === "bookmark" ? undefined : this.#options.project(object);
    if (projected === undefined) return;
    this.#touched?.add(keyOf(projected.namespace, projected.name));
    if (type === "delete") this.store.remove(projected.namespace, projected.name);
    else this.store.put(projected);
  }

  /** A watch can lose events silently, so its copy is compared with a list now and then. */
  async #compareNowAndThen(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#isClosed) {
      await this.#sleep(compareMs * (0.9 + clock.random() * 0.2));
      if (this.#watching === undefined || this.#isClosed) continue;
      await this.#compare(this.#watching).catch((thrown: unknown) => {
        if (!this.#isClosed) this.#logFailure("A list could not be compared with the watch", thrown);
      });
    }
  }

  /** A difference without an event, before or shortly after the list, is a missed event. */
  async #compare(watching: AbortController): Promise<void> {
    const touched = new Set<string>();
    this.#touched = touched;
    try {
      const { listed, position } = await this.#list();
      const missed = this.store.differences(listed);
      if (missed.size > 0) await this.#sleep(eventDelayMs);
      for (const key of touched) missed.delete(key);
      // The watch has ended meanwhile. The next one brings the events it did not send, so nothing is proven.
      if (this.#watching !== watching || this.#isClosed) return;
      this.#health.listed();
      if (missed.size > 0) this.#correct(missed, listed, position);
    } finally {
      this.#touched = undefined;
    }
  }

  #correct(missed: ReadonlySet<string>, listed: ReadonlyMap<string, T>, position: string): void {
    this.#health.missed(missed.size);
    for (const key of missed) {
      const object = listed.get(key);
      const [namespace = "", name = ""] = key.split("/");
      if (object === undefined) this.store.remove(namespace, name);
      else this.store.put(object);
    }
    // A watch that missed events is replaced.
    this.#position = position;
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
