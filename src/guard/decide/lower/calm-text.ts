import { isObject, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import type { MemoryCalm } from "../../facts/memory-calm.ts";
import { countOf, objectsOf, timeMs, timeText } from "../../json-values.ts";

/** The record as people find it in the ConfigMap. */
export function printCalms(calms: readonly MemoryCalm[]): string {
  const rows = calms.map(({ sinceMs, coveredMs, disturbedMs, ...calm }) => ({
    ...calm,
    since: timeText(sinceMs),
    covered: timeText(coveredMs),
    ...(disturbedMs === 0 ? {} : { disturbed: timeText(disturbedMs) }),
  }));
  return JSON.stringify(rows);
}

/** Whatever cannot be read is left out: its week begins anew. */
export function parseCalms(text: string | undefined): readonly MemoryCalm[] {
  try {
    return objectsOf(JSON.parse(text ?? "[]")).flatMap(calmOf);
  } catch {
    return [];
  }
}

function calmOf(row: JsonObject): readonly MemoryCalm[] {
  const { kills } = row;
  const [sinceMs, coveredMs] = [timeMs(row["since"]), timeMs(row["covered"])];
  if (sinceMs === 0 || !isObject(kills)) return [];
  const counted = Object.entries(kills).map(([node, count]): [string, number] => [node, countOf(count)]);
  return [
    {
      key: textOf(row["key"]),
      limit: textOf(row["limit"]),
      sinceMs,
      coveredMs,
      peakBytes: countOf(row["peakBytes"]),
      peakNode: textOf(row["peakNode"]),
      kills: Object.fromEntries(counted),
      broken: textOf(row["broken"]),
      disturbedMs: timeMs(row["disturbed"]),
      ...(row["isOfPrometheus"] === true ? { isOfPrometheus: true } : {}),
    },
  ];
}
