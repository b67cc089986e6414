import { sampleOf, seriesIn } from "../../../../guard/observe/query-prometheus.ts";
import { KubeError } from "../../../../kube/client/api.ts";
import { objectOf, textOf, type JsonObject } from "../../../../kube/client/json-fields.ts";
import { see, seeText, type Asking, type Seen } from "../../../cluster/seen.ts";
import { parseProxiedService, proxyPath } from "../../../cluster/status/alerts.ts";

/** What Prometheus has of the time of a storm. A number is absent where it has no samples. */
export interface StormPast {
  /** Calls that waited on all nodes at once. */
  readonly waitingMax?: number;
  /** The largest share of its limit that a daemon's memory took. */
  readonly memoryShareMax?: number;
  /** Processes killed in the daemons' containers. */
  readonly kills?: number;
  readonly refused?: number;
  /** Names of alerts that fired, each with how many of them. */
  readonly alerts: readonly (readonly [name: string, count: number])[];
}

const askMs = 15_000;
/** Samples from a minute before the storm to a minute after it, so that a short one has some. */
const marginMs = 60_000;

/** Asks a Prometheus through the API server about the time of a storm. */
export async function askStormPast(
  asking: Asking,
  given: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<Seen<StormPast>> {
  const folder = `${proxyPath(parseProxiedService("--prometheus", given))}/api/v1/query`;
  const endSeconds = (toMs + marginMs) / 1_000;
  const over = `${Math.ceil((toMs - fromMs + 2 * marginMs) / 1_000)}s`;
  const ask = async (query: string): Promise<readonly JsonObject[]> => {
    const words = new URLSearchParams({ query, time: String(endSeconds) });
    return seriesOf(await seeText(asking, `${folder}?${words.toString()}`, askMs));
  };
  return await see(asking, async () => {
    const numbers: Partial<Record<keyof typeof queries, number>> = {};
    // One after the other: Prometheus has others to answer.
    for (const [name, queryOf] of Object.entries(queries) as [keyof typeof queries, QueryOf][]) {
      const [series] = await ask(queryOf(over));
      const value = series === undefined ? Number.NaN : sampleOf(series);
      if (Number.isFinite(value)) numbers[name] = value;
    }
    return { ...numbers, alerts: alertsIn(await ask(alertsQuery(over))) };
  });
}

type QueryOf = (over: string) => string;

const queries = {
  waitingMax: (over) => `max_over_time(sum(levee_waiting{kind="attach"})[${over}:15s])`,
  memoryShareMax: (over) =>
    `max(max_over_time((levee_memory_working_set_bytes / levee_memory_limit_bytes)[${over}:15s]))`,
  kills: (over) => `round(sum(increase(levee_memory_oom_kills_total[${over}])))`,
  refused: (over) => `round(sum(increase(levee_admissions_total{class!="detach",outcome="refused"}[${over}])))`,
} as const satisfies Record<string, QueryOf>;

/** How many fired at any time in it, by name. */
function alertsQuery(over: string): string {
  return `count by (alertname) (max_over_time(ALERTS{alertstate="firing",alertname!~"Watchdog|InfoInhibitor"}[${over}]))`;
}

function alertsIn(series: readonly JsonObject[]): StormPast["alerts"] {
  return series
    .map((one) => [textOf(objectOf(one["metric"])["alertname"]), sampleOf(one)] as const)
    .toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1));
}

/** Another program may be behind that Service. */
function seriesOf(text: string): readonly JsonObject[] {
  try {
    return seriesIn(text);
  } catch (cause) {
    throw new KubeError("api-refused", "the program behind --prometheus does not answer queries", { cause });
  }
}
