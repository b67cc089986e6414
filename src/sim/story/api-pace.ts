import type { SimEvent } from "../node/sim-event.ts";

type RequestEvent = Extract<SimEvent, { kind: "request" }>;

/** So many at once, and then one more after each pause. */
interface PromisedPace {
  readonly burst: number;
  readonly refillMs: number;
  /** How many an outbox sends at once: what a request waits for on its way may bring so many of them together. */
  readonly atOnce: number;
}

/** What docs/scale.md promises of one daemon, beside its lists and watches. */
const promises: Readonly<Record<string, PromisedPace>> = {
  "patch pods": { burst: 512, refillMs: 100, atOnce: 4 },
  "events": { burst: 20, refillMs: 200, atOnce: 2 },
  "get pods": { burst: 256, refillMs: 100, atOnce: 0 },
  "get network-attachment-definitions": { burst: 256, refillMs: 100, atOnce: 0 },
};

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Counts the requests of each daemon by the paces that are promised of it. */
export class ApiPace {
  /** By node and kind of request. */
  readonly #buckets = new Map<string, Map<string, Bucket>>();

  /** What is wrong; undefined when nothing is. */
  see(nowMs: number, event: SimEvent): string | undefined {
    // A new process knows nothing of what the one before it has sent.
    if (event.kind === "daemon" && event.what === "starts") this.#buckets.delete(event.node);
    return event.kind === "request" ? this.#asked(nowMs, event) : undefined;
  }

  #asked(nowMs: number, { node, method, resource }: RequestEvent): string | undefined {
    const kind = resource === "events" ? resource : `${method} ${resource}`;
    const promise = promises[kind];
    if (promise === undefined) return `${node} sent ${kind}, which is promised nowhere`;
    const { burst, refillMs, atOnce } = promise;
    const known = this.#buckets.get(node) ?? new Map<string, Bucket>();
    this.#buckets.set(node, known);
    const bucket = known.get(kind) ?? { tokens: burst + atOnce, atMs: nowMs };
    known.set(kind, bucket);
    const tokens = Math.min(burst + atOnce, bucket.tokens + (nowMs - bucket.atMs) / refillMs) - 1;
    Object.assign(bucket, { tokens, atMs: nowMs });
    // A sum of fractions ends a little below the whole number.
    if (tokens > -0.001) return undefined;
    return `${node} sent more ${kind} than ${burst} at once and ${60_000 / refillMs} a minute`;
  }
}
