import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { SimListener } from "../node/sim-event.ts";
import type { SimTime } from "../time/sim-time.ts";

/** One change of an object, as a watch tells it. */
export interface ApiChange {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: JsonObject;
}

/** What is wrong with the API server at present. */
interface ApiTrouble {
  /** No request gets through, and open watches are cut. */
  isAway: boolean;
  /** Nothing can be listed or watched, as while the server fills its cache. */
  isFollowAway: boolean;
  /** The share of requests that is answered with 429. */
  busyShare: number;
  /** How far the server's cache is behind etcd: lists and watches tell the past. */
  lagMs: number;
  /** The longest time that one request takes. */
  answerMsMax: number;
}

/** Changes that a watch can go back to. Older places are answered with 410, as after a compaction of etcd. */
const usualHistoryMax = 200;
const usualAnswerMs = 12;

/** The objects of one resource, with every change of the recent past. */
class Resource {
  readonly objects = new Map<string, JsonObject>();
  readonly changes: (ApiChange & { readonly atMs: number })[] = [];
  /** Watches may go on from here. */
  oldest = 0;
}

/** The API server of a simulated cluster: objects with real resourceVersions, and the past that its cache still shows. */
export class SimApi {
  readonly trouble: ApiTrouble = {
    isAway: false,
    isFollowAway: false,
    busyShare: 0,
    lagMs: 0,
    answerMsMax: usualAnswerMs,
  };
  /** Requests so far, by what they are: `list`, `watch`, `streamed list` for a watch that begins with one, `get`, `patch`, `post`. */
  readonly requests = new Map<string, number>();
  /** Resources without a definition: everything about them is 404. */
  readonly absent = new Set<string>();
  readonly #time: SimTime;
  readonly #historyMax: number;
  readonly #say: SimListener;
  readonly #resources = new Map<string, Resource>();
  readonly #listeners = new Map<() => void, string | undefined>();
  #version = 100;

  constructor(time: SimTime, say: SimListener, historyMax = usualHistoryMax) {
    this.#historyMax = historyMax;
    this.#time = time;
    this.#say = say;
  }

  get version(): number {
    return this.#version;
  }

  count(what: string, who: { readonly by?: string; readonly resource?: string } = {}): void {
    if (what === "list" || what === "watch" || what === "streamed list") this.#say({ kind: "api", what, ...who });
    this.requests.set(what, (this.requests.get(what) ?? 0) + 1);
  }

  /** One object is asked for, or written. */
  asked(node: string, method: string, resource: string): void {
    this.#say({ kind: "request", node, method, resource });
  }

  /** As etcd has it. */
  get(resource: string, key: string): JsonObject | undefined {
    return this.#of(resource).objects.get(key);
  }

  /** Creates or replaces an object. */
  put(resource: string, object: JsonObject): void {
    const key = keyOf(object);
    this.#change(resource, this.#of(resource).objects.has(key) ? "MODIFIED" : "ADDED", object);
  }

  /** Merges into `metadata.annotations`. Undefined when there is no such object, or one with another UID. */
  annotate(resource: string, key: string, patch: JsonObject): JsonObject | undefined {
    const old = this.get(resource, key);
    if (old === undefined) return undefined;
    const metadata = objectOf(old["metadata"]);
    const wanted = objectOf(patch["metadata"]);
    if (wanted["uid"] !== undefined && wanted["uid"] !== metadata["uid"]) return undefined;
    const annotations = { ...objectOf(metadata["annotations"]), ...objectOf(wanted["annotations"]) };
    this.put(resource, { ...old, metadata: { ...metadata, annotations } });
    return this.get(resource, key);
  }

  remove(resource: string, key: string): void {
    const object = this.get(resource, key);
    if (object !== undefined) this.#change(resource, "DELETED", object);
  }

  /** Everything that the cache shows now, and as of which version. */
  list(resource: string, isWanted: (object: JsonObject) => boolean): { items: JsonObject[]; version: number } {
    const { objects } = this.#of(resource);
    const seen = new Map(objects);
    // Take back what the cache has not heard of yet.
    const late = this.#of(resource).changes.filter(({ atMs }) => atMs > this.#time.nowMs - this.trouble.lagMs);
    for (const { object, type } of late.toReversed()) {
      const key = keyOf(object);
      const before = this.#before(resource, key, versionOf(object));
      if (before === undefined || type === "ADDED") seen.delete(key);
      else seen.set(key, before);
    }
    const version = late.length === 0 ? this.#version : (late[0]?.version ?? 1) - 1;
    return { items: [...seen.values()].filter(isWanted), version };
  }

  /** The changes behind a version that the cache knows of; undefined when they are no longer kept. */
  since(resource: string, version: number): readonly ApiChange[] | undefined {
    const { changes, oldest } = this.#of(resource);
    if (version < oldest) return undefined;
    const untilMs = this.#time.nowMs - this.trouble.lagMs;
    const from = changes.findLastIndex((change) => change.version <= version) + 1;
    return changes.slice(from).filter(({ atMs }) => atMs <= untilMs);
  }

  /** Everything that there is, as etcd has it. */
  objects(resource: string): readonly JsonObject[] {
    return [...this.#of(resource).objects.values()];
  }

  /** Calls `onChange` after every change, of one resource where it is given, and after every turn of trouble. */
  listen(onChange: () => void, resource?: string): () => void {
    this.#listeners.set(onChange, resource);
    return () => this.#listeners.delete(onChange);
  }

  /** After a change of `trouble`, or of one resource. */
  wake(changed?: string): void {
    for (const [listener, resource] of [...this.#listeners])
      if (changed === undefined || resource === undefined || resource === changed) listener();
  }

  /** Forgets the past, so that every watch that is cut gets 410. */
  compact(): void {
    for (const resource of this.#resources.values()) {
      resource.changes.splice(0);
      resource.oldest = this.#version;
    }
  }

  #change(name: string, type: ApiChange["type"], object: JsonObject): void {
    this.#version += 1;
    const version = this.#version;
    const metadata = { ...objectOf(object["metadata"]), resourceVersion: String(version) };
    const now = { ...object, metadata };
    const resource = this.#of(name);
    if (type === "DELETED") resource.objects.delete(keyOf(now));
    else resource.objects.set(keyOf(now), now);
    resource.changes.push({ version, type, object: now, atMs: this.#time.nowMs });
    if (resource.changes.length > this.#historyMax) resource.oldest = resource.changes.shift()?.version ?? 0;
    this.#time.after(this.trouble.lagMs, () => this.wake(name));
  }

  #before(resource: string, key: string, version: number): JsonObject | undefined {
    const earlier = this.#of(resource).changes.filter(
      (change) => change.version < version && keyOf(change.object) === key,
    );
    const last = earlier.at(-1);
    return last === undefined || last.type === "DELETED" ? undefined : last.object;
  }

  #of(resource: string): Resource {
    const known = this.#resources.get(resource) ?? new Resource();
    this.#resources.set(resource, known);
    return known;
  }
}

function keyOf(object: JsonObject): string {
  const { namespace, name } = objectOf(object["metadata"]);
  return `${textOf(namespace)}/${textOf(name)}`;
}

function versionOf(object: JsonObject): number {
  const { metadata } = object;
  return isObject(metadata) ? Number(metadata["resourceVersion"]) : 0;
}
