import type { LeveeError } from "../base/errors.ts";
import type { Ran } from "../hands/run-chain.ts";
import type { Counter, Histogram, MetricsRegistry } from "./metrics-registry.ts";

/** From "nothing to do" to the whole budget of an ADD. */
const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60] as const;
/** A plugin's own time. */
const delegateBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25] as const;
const verbs: ReadonlySet<string> = new Set(["ADD", "DEL", "CHECK", "STATUS", "GC"]);
/** A node has a dozen plugins; names from networks of strangers must not fill the memory. */
const pluginsMax = 32;

/** What is counted as it happens: calls, and the plugins they run. */
export class Measures {
  readonly #calls: Counter;
  readonly #callSeconds: Histogram;
  readonly #delegateSeconds: Histogram;
  readonly #requests: Counter;
  readonly #plugins = new Set<string>();
  #shimSoftware = "";

  constructor(metrics: MetricsRegistry) {
    this.#calls = metrics.counter("levee_calls_total", "CNI calls by verb and code of the catalogue, ok for success");
    this.#callSeconds = metrics.histogram(
      "levee_call_seconds",
      "Time from a call's first frame to its answer",
      callBounds,
    );
    this.#delegateSeconds = metrics.histogram(
      "levee_delegate_seconds",
      "Time of one run of a plugin, as its shim measured it",
      delegateBounds,
    );
    this.#requests = metrics.counter("multus_server_request_total", "Counter of HTTP requests");
  }

  /** The software of the last shim that made a call; empty before the first. */
  get shimSoftware(): string {
    return this.#shimSoftware;
  }

  called(verb: string, tookMs: number, shim: string, error?: LeveeError): void {
    // Not checked yet when a peer is broken.
    const known = verbs.has(verb) ? verb : "other";
    this.#shimSoftware = shim.slice(0, 64);
    this.#calls.add({ verb: known, code: error?.code ?? "ok" });
    this.#callSeconds.observe(tookMs / 1_000, { verb: known });
    this.requested("/cni", "post", error === undefined ? 200 : 400);
  }

  ran({ verb, link, outcome }: Ran): void {
    this.#delegateSeconds.observe(outcome.wallUs / 1_000_000, { plugin: this.#plugin(link.type), verb });
  }

  /** Multus' only metric, kept for its dashboards: a CNI call counts as a POST to /cni. */
  requested(handler: string, method: string, code: number): void {
    this.#requests.add({ handler, code: String(code), method });
  }

  #plugin(type: string): string {
    if (this.#plugins.size < pluginsMax) this.#plugins.add(type);
    return this.#plugins.has(type) ? type : "other";
  }
}
