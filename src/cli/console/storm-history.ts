import { objectsOf } from "../../guard/json-values.ts";
import { objectOf } from "../../kube/client/json-fields.ts";
import type { StormHistory, StormPoint } from "../../wire/console-storm.ts";
import { seeText, type Asking } from "../cluster/seen.ts";
import { parseProxiedService, proxyPath } from "../cluster/status/alerts.ts";

const askMs = 15_000;
/** As many as a plot has columns. */
const pointsWanted = 720;
const stepSecondsMin = 15;

const queries = {
  waiting: 'sum(levee_waiting{kind="attach"})',
  attached: 'sum(levee_attachments{phase="attached"})',
} as const;

/** The storm over many hours, from a Prometheus that is asked through the API server with the viewer's own rights. */
export function stormHistory(
  asking: Asking,
  given: string | undefined,
  nowMs: () => number,
): (hours: number) => Promise<StormHistory | undefined> {
  if (given === undefined) return () => Promise.resolve(undefined);
  const folder = `${proxyPath(parseProxiedService("--prometheus", given))}/api/v1/query_range`;
  return async (hours) => {
    const endSeconds = Math.floor(nowMs() / 1_000);
    const stepSeconds = Math.max(stepSecondsMin, Math.ceil((hours * 3_600) / pointsWanted));
    const ask = async (query: string): Promise<ReadonlyMap<number, number>> => {
      const range = { start: endSeconds - hours * 3_600, end: endSeconds, step: stepSeconds };
      const words = new URLSearchParams({ query, start: `${range.start}`, end: `${range.end}`, step: `${range.step}` });
      return samplesOf(await seeText(asking, `${folder}?${words.toString()}`, askMs));
    };
    const [waiting, attached] = [await ask(queries.waiting), await ask(queries.attached)];
    const points = [...waiting].map(([seconds, count]): StormPoint => {
      return { atMs: seconds * 1_000, waiting: count, attached: attached.get(seconds) ?? 0, done: 0 };
    });
    return { stepMs: stepSeconds * 1_000, points };
  };
}

/** The samples of the one series of a range, by their second. */
function samplesOf(text: string): ReadonlyMap<number, number> {
  const [series] = objectsOf(objectOf(objectOf(JSON.parse(text) as unknown)["data"])["result"]); // looked at field by field
  const values: readonly unknown[] = Array.isArray(series?.["values"]) ? series["values"] : [];
  return new Map(
    values.flatMap((sample): readonly (readonly [number, number])[] => {
      const [seconds, value] = Array.isArray(sample) ? (sample as readonly unknown[]) : [];
      return typeof seconds === "number" && typeof value === "string" ? [[seconds, Number(value)]] : [];
    }),
  );
}
