import type { Clock } from "../base/clock.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "./api.ts";
import {
  eventBody,
  eventCountBody,
  eventMessage,
  eventName,
  eventNamespace,
  type EventIdentity,
  type EventObject,
  type EventSource,
  type EventText,
} from "./event-body.ts";
import type { Outbox } from "./outbox.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Events that are counted instead of told again. The pods of one node, and a few about each. */
const knownMax = 512;
/** As client-go: an object may say this much at once, then one thing in five minutes. */
const objectBudget = { burst: 25, refillMs: 300_000 };
const deadlineMs = 10_000;

export interface EventRecorderOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly source: EventSource;
  readonly outbox: Outbox;
  /** An object has said too much lately. */
  readonly onSuppressed: () => void;
}

/** Tells events through the outbox: the same one again raises its count, and no object may flood the cluster. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #known = new Map<string, KnownEvent>();
  readonly #budgets = new Map<string, TokenBucket>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(about: EventObject, told: EventText): void {
    const { outbox, onSuppressed } = this.#options;
    if (!this.#budgetOf(about).take()) {
      onSuppressed();
      return;
    }
    // Shortened before it is kept: what is here is counted in events, not in bytes.
    const text = { ...told, message: eventMessage(told.message) };
    const key = [objectKey(about), text.type, text.reason, text.message].join("\n");
    const event = this.#countedAgain(key) ?? this.#firstTime(key, about);
    void outbox.put({ key, send: () => this.#send(event, about, text) });
  }

  #budgetOf(about: EventObject): TokenBucket {
    const key = objectKey(about);
    const budget = this.#budgets.get(key) ?? new TokenBucket(this.#options.clock, objectBudget);
    keepNewest(this.#budgets, key, budget);
    return budget;
  }

  #countedAgain(key: string): KnownEvent | undefined {
    const event = this.#known.get(key);
    if (event === undefined) return undefined;
    event.count += 1;
    event.lastWallMs = this.#options.clock.wallMs();
    keepNewest(this.#known, key, event);
    return event;
  }

  #firstTime(key: string, about: EventObject): KnownEvent {
    const wallMs = this.#options.clock.wallMs();
    const event = {
      identity: this.#newIdentity(about),
      count: 1,
      firstWallMs: wallMs,
      lastWallMs: wallMs,
      isCreated: false,
    };
    keepNewest(this.#known, key, event);
    return event;
  }

  async #send(event: KnownEvent, about: EventObject, text: EventText): Promise<void> {
    if (event.isCreated && (await this.#raise(event))) return;
    try {
      await this.#create(event, about, text);
    } catch (thrown) {
      // An earlier trial was carried out, and its answer lost.
      if (kubeStatusOf(thrown) !== 409) throw thrown;
      await this.#raise(event);
    }
    event.isCreated = true;
  }

  /** False when the server has forgotten the event, as it does after an hour: then it is told anew. */
  async #raise(event: KnownEvent): Promise<boolean> {
    const { namespace, name } = event.identity;
    try {
      await this.#options.api.call({
        method: "PATCH",
        path: `/api/v1/namespaces/${namespace}/events/${name}`,
        contentType: "application/merge-patch+json",
        accept: metadataOnly,
        body: eventCountBody(event),
        deadlineMs,
      });
      return true;
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return false;
      throw thrown;
    }
  }

  async #create(event: KnownEvent, about: EventObject, text: EventText): Promise<void> {
    const { api, source } = this.#options;
    await api.call({
      method: "POST",
      path: `/api/v1/namespaces/${event.identity.namespace}/events`,
      accept: metadataOnly,
      body: eventBody(event.identity, about, text, { source, counts: event }),
      deadlineMs,
    });
  }

  #newIdentity(about: EventObject): EventIdentity {
    return { namespace: eventNamespace(about), name: eventName(about, this.#options.clock.randomBytes(8)) };
  }
}

interface KnownEvent {
  readonly identity: EventIdentity;
  readonly firstWallMs: number;
  count: number;
  lastWallMs: number;
  isCreated: boolean;
}

function objectKey(about: EventObject): string {
  return [about.kind, about.namespace, about.name, about.uid].join("\n");
}

/** The one not used for longest gives way. */
function keepNewest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= knownMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
