import type { AdmissionClass } from "../../admission/request.ts";
import type { LeveeError } from "../../base/errors.ts";
import type { CniRequest } from "../../cni/verb.ts";
import type { Ran } from "../../hands/run-chain.ts";
import { PluginMetrics } from "./plugin-metrics.ts";
import type { Counter, Histogram, MetricsRegistry } from "./metrics-registry.ts";

/** From a call with no work to the whole time budget of an ADD. */
const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60] as const;
const served: Readonly<Record<Exclude<CniRequest["verb"], "VERSION">, true>> = {
  ADD: true,
  DEL: true,
  CHECK: true,
  STATUS: true,
  GC: true,
};
const verbs: ReadonlySet<string> = new Set(Object.keys(served));

interface EndedCall {
  readonly verb: string;
  /** Undefined when the call never asked for a slot. */
  readonly admissionClass: AdmissionClass | undefined;
  readonly tookMs: number;
  /** The software of its shim. */
  readonly shim: string;
  readonly error: LeveeError | undefined;
}

/** Counts calls, plugin runs and HTTP requests as they end. */
export class CallMetrics {
  readonly #calls: Counter;
  readonly #callSeconds: Histogram;
  readonly #plugins: PluginMetrics;
  readonly #requests: Counter;
  #shimSoftware = "";

  constructor(metrics: MetricsRegistry) {
    const help = "CNI calls that have ended, by verb, class and error code; ok for success";
    this.#calls = metrics.counter("levee_calls_total", help, ["verb", "class", "code"]);
    this.#callSeconds = metrics.histogram(
      "levee_call_seconds",
      "Time from a call's first frame to its answer",
      callBounds,
      ["verb"],
    );
    this.#plugins = new PluginMetrics(metrics);
    this.#requests = metrics.counter("multus_server_request_total", "Counter of HTTP requests", [
      "handler",
      "code",
      "method",
    ]);
  }

  /** The software of the last shim that made a call; empty before the first. */
  get shimSoftware(): string {
    return this.#shimSoftware;
  }

  called({ verb, admissionClass, tookMs, shim, error }: EndedCall): void {
    // A broken peer may send any verb.
    const known = verbs.has(verb) ? verb : "other";
    this.#shimSoftware = shim.length > 64 ? shim.slice(0, 64) : shim;
    this.#calls.add([known, admissionClass ?? "none", error?.code ?? "ok"]);
    this.#callSeconds.observe(tookMs / 1_000, [known]);
    this.requested("/cni", "post", error === undefined ? 200 : 400);
  }

  ran(run: Ran): void {
    this.#plugins.ran(run);
  }

  /** Multus' only metric, kept for its dashboards: a CNI call counts as a POST to /cni. */
  requested(handler: string, method: string, code: number): void {
    this.#requests.add([handler, String(code), method]);
  }
}
