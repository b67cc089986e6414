import { objectOf } from "../../kube/client/json-fields.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimTime } from "../time/sim-time.ts";

export const prometheusUrl = "http://prometheus.example:9090";
/** What is probed: the page behind the ingress, and one that has failed since long before any story. */
const probedSite = "https://site.example";
const deadSite = "https://old.example";
const ingress = "kube-system/traefik";
/** The interval of many sites. What Prometheus says is up to so old. */
const scrapeMs = 15_000;

/** Scrapes in a row that found the same: 1, 0, or undefined where the probe hung and there is no sample. */
interface Stretch {
  readonly value: number | undefined;
  readonly fromMs: number;
  untilMs: number;
}

interface Series {
  readonly metric: { readonly instance?: string; readonly job?: string };
  readonly value: number;
}

/** A Prometheus that scrapes a blackbox-exporter and answers the guard's queries, as its own clock tells the time. */
export class SimPrometheus {
  isAway = false;
  /** What is wrong with the site, besides its ingress. */
  readonly troubles = new Set<"probe-fails" | "probe-hangs">();
  readonly #time: SimTime;
  readonly #api: SimApi;
  readonly #stretches: ReadonlyMap<string, Stretch[]>;

  constructor(time: SimTime, api: SimApi) {
    this.#time = time;
    this.#api = api;
    const before = { fromMs: Number.NEGATIVE_INFINITY, untilMs: time.wallMs };
    this.#stretches = new Map([
      [probedSite, [{ ...before, value: 1 }]],
      [deadSite, [{ ...before, value: 0 }]],
    ]);
  }

  start(): void {
    this.#scrape(probedSite, this.siteNow);
    this.#scrape(deadSite, 0);
    this.#time.after(scrapeMs, () => this.start());
  }

  /** What a probe of the site finds at this moment, which no sample may show yet. */
  get siteNow(): number | undefined {
    if (this.troubles.has("probe-hangs")) return undefined;
    const deployment = this.#api.get("deployments", ingress);
    const wanted = Number(objectOf(deployment?.["spec"])["replicas"] ?? 0);
    const available = Number(objectOf(deployment?.["status"])["availableReplicas"] ?? 0);
    return this.troubles.has("probe-fails") || available < wanted ? 0 : 1;
  }

  /** The body of the answer to one of the queries that the guard sends; undefined for another one. */
  answer(path: string): string | undefined {
    const query = new URL(path, prometheusUrl).searchParams.get("query") ?? "";
    const series = this.#seriesOf(query);
    if (series === undefined) return undefined;
    const seconds = this.#time.wallMs / 1_000;
    const result = series.map(({ metric, value }) => ({ metric, value: [seconds, String(value)] }));
    return JSON.stringify({ status: "success", data: { resultType: "vector", result } });
  }

  #seriesOf(query: string): readonly Series[] | undefined {
    const present = [...this.#stretches.keys()].flatMap((instance) => seriesOf(instance, this.#last(instance)));
    if (query === "count(probe_success)") return present.length === 0 ? [] : [{ metric: {}, value: present.length }];
    const failing = failingQuery.exec(query);
    if (failing !== null) return present.filter(({ value }) => value === 0).filter(this.#isFresh(failing.slice(1)));
    const [, seconds, ...before] = missedQuery.exec(query) ?? [];
    if (seconds === undefined) return undefined;
    const had = [...this.#stretches.keys()]
      .filter((instance) => this.#last(instance) === undefined)
      .flatMap((instance) => seriesOf(instance, this.#highest(instance, Number(seconds))));
    return had.filter(this.#isFresh(before));
  }

  /** False for what had failed for the whole day before the first of these seconds. */
  #isFresh([since, hourEnds]: readonly (string | undefined)[]): (series: Series) => boolean {
    return ({ metric: { instance = "" } }) =>
      since === undefined || !this.#failedBefore(instance, Number(since), Number(hourEnds));
  }

  #scrape(instance: string, value: number | undefined): void {
    const stretches = this.#stretches.get(instance) ?? [];
    const last = stretches.at(-1);
    const atMs = this.#time.wallMs;
    if (last?.value === value && last !== undefined) last.untilMs = atMs;
    else stretches.push({ value, fromMs: atMs, untilMs: atMs });
  }

  /** The newest sample. A probe that hung has none: a failed scrape ends its series at once. */
  #last(instance: string): number | undefined {
    return this.#stretches.get(instance)?.at(-1)?.value;
  }

  /** The highest sample of so many seconds. */
  #highest(instance: string, seconds: number): number | undefined {
    const values = this.#valuesIn(instance, this.#time.wallMs - seconds * 1_000, this.#time.wallMs);
    return values.length === 0 ? undefined : Math.max(...values);
  }

  /** It failed during the whole day before that second, and there was a sample within the day's first hour. */
  #failedBefore(instance: string, since: number, hourEnds: number): boolean {
    const day = this.#valuesIn(instance, (since - 86_400) * 1_000, since * 1_000);
    const hour = this.#valuesIn(instance, (hourEnds - 3_600) * 1_000, hourEnds * 1_000);
    return hour.length > 0 && day.every((value) => value === 0);
  }

  #valuesIn(instance: string, fromMs: number, untilMs: number): readonly number[] {
    const stretches = this.#stretches.get(instance) ?? [];
    return stretches.flatMap((one) =>
      one.value === undefined || one.fromMs > untilMs || one.untilMs < fromMs ? [] : [one.value],
    );
  }
}

function seriesOf(instance: string, value: number | undefined): readonly Series[] {
  return value === undefined ? [] : [{ metric: { instance, job: "blackbox" }, value }];
}

/** The exception for what had failed before: both times in seconds. */
const unlessBefore =
  String.raw`(?: unless \(max_over_time\(probe_success\[1d\] @ (\d+)\) == 0` +
  String.raw` and count_over_time\(probe_success\[1h\] @ (\d+)\)\))?`;
const failingQuery = new RegExp(`^probe_success == 0${unlessBefore}$`, "u");
const labels = String.raw`max by \(job, instance, target\)`;
const missedQuery = new RegExp(
  String.raw`^${labels} \(max_over_time\(probe_success\[(\d+)s\]\)${unlessBefore}\) unless ${labels} \(probe_success\)$`,
  "u",
);
