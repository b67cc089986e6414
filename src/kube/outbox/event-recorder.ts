import type { Clock } from "../../base/clock.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "../client/api.ts";
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
import type { Letter } from "./letter.ts";
import type { Outbox } from "./outbox.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Known events. A repeated one only raises its count. Enough for a few events about each pod of a node. */
const knownMax = 512;
/** As in client-go: 25 events about an object at once, then one in five minutes. */
const objectBudget = { burst: 25, refillMs: 300_000 };
const deadlineMs = 10_000;

interface EventRecorderOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly source: EventSource;
  readonly outbox: Outbox;
  /** Called for an event that the budget of its object does not allow. */
  readonly onSuppressed: () => void;
}

/** Tells events through the outbox. A repeated event raises its count, and no object may flood the cluster. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #known = new Map<string, KnownEvent>();
  readonly #budgets = new Map<string, TokenBucket>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(about: EventObject, full: EventText): void {
    const { outbox, onSuppressed } = this.#options;
    if (!this.#budgetOf(about).take()) {
      onSuppressed();
      return;
    }
    // Shortened before it is kept, because the bound counts events, not bytes.
    const text = { ...full, message: eventMessage(full.message) };
    const key = [objectKey(about), text.type, text.reason, text.message].join("\n");
    outbox.post(this.#countedAgain(key) ?? this.#firstTime(key, about, text));
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

  #firstTime(key: string, about: EventObject, text: EventText): KnownEvent {
    const event = new KnownEvent(this.#options, { key, about, text });
    keepNewest(this.#known, key, event);
    return event;
  }
}

/** An event and its letter in one object, because a thousand may wait in a storm. */
class KnownEvent implements Letter {
  readonly key: string;
  readonly firstWallMs: number;
  count = 1;
  lastWallMs: number;
  readonly #options: EventRecorderOptions;
  readonly #about: EventObject;
  readonly #text: EventText;
  /** Set when the event is first sent. */
  #identity: EventIdentity | undefined;
  #isCreated = false;

  constructor(options: EventRecorderOptions, event: { key: string; about: EventObject; text: EventText }) {
    this.key = event.key;
    this.#options = options;
    this.#about = event.about;
    this.#text = event.text;
    this.firstWallMs = options.clock.wallMs();
    this.lastWallMs = this.firstWallMs;
  }

  async send(): Promise<void> {
    const identity = (this.#identity ??= this.#newIdentity());
    if (this.#isCreated && (await this.#raise(identity))) return;
    try {
      await this.#create(identity);
    } catch (thrown) {
      // An earlier attempt succeeded, and its answer was lost.
      if (kubeStatusOf(thrown) !== 409) throw thrown;
      await this.#raise(identity);
    }
    this.#isCreated = true;
  }

  /** False when the server has deleted the event, as it does after an hour: then the event is created anew. */
  async #raise({ namespace, name }: EventIdentity): Promise<boolean> {
    try {
      await this.#options.api.call({
        method: "PATCH",
        path: `/api/v1/namespaces/${namespace}/events/${name}`,
        contentType: "application/merge-patch+json",
        accept: metadataOnly,
        body: eventCountBody(this),
        deadlineMs,
      });
      return true;
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return false;
      throw thrown;
    }
  }

  async #create(identity: EventIdentity): Promise<void> {
    const { api, source } = this.#options;
    await api.call({
      method: "POST",
      path: `/api/v1/namespaces/${identity.namespace}/events`,
      accept: metadataOnly,
      body: eventBody(identity, this.#about, this.#text, { source, counts: this }),
      deadlineMs,
    });
  }

  #newIdentity(): EventIdentity {
    return { namespace: eventNamespace(this.#about), name: eventName(this.#about, this.#options.clock.randomBytes(8)) };
  }
}

/** A UID is enough and shorter; some objects have none. */
function objectKey({ kind, namespace, name, uid }: EventObject): string {
  return uid === "" ? `${kind}\n${namespace}\n${name}` : `${kind}\n${uid}`;
}

/** Drops the entry that was not used for the longest time. */
function keepNewest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= knownMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
