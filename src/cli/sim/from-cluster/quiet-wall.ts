import type { Metric } from "../../../wire/metric-lines.ts";

const histogram = "levee_delegate_seconds";
/**
 * A daemon's histogram begins with its start, often with the storm of a reboot, in which the plugins share the cores. The
 * simulator lets them share its cores itself, so that time must not count twice. A storm only adds time: the quarter of the
 * ADDs that were quickest is near what a run takes on a quiet node even when most runs were part of a storm. The median would
 * be the storm's then, and so would the mean.
 */
const quietShare = 0.25;

/**
 * How long an ADD of each plugin takes when nothing else runs, by the histograms of all daemons. By the runs of all verbs for
 * a plugin without an ADD: the DEL of a plugin such as dhcp waits for less than its ADD.
 */
export function quietWallsMs(metrics: readonly Metric[]): ReadonlyMap<string, number> {
  const rows = metrics.filter(({ name, labels }) => name.startsWith(`${histogram}_`) && labels["plugin"] !== undefined);
  const walls = new Map<string, number>();
  for (const [plugin, all] of Map.groupBy(rows, ({ labels }) => labels["plugin"] ?? "")) {
    const wallMs = quietWallMs(all.filter(({ labels }) => labels["verb"] === "ADD")) ?? quietWallMs(all);
    if (wallMs !== undefined) walls.set(plugin, wallMs);
  }
  return walls;
}

function quietWallMs(rows: readonly Metric[]): number | undefined {
  const total = (part: string): number =>
    rows.reduce((sum, { name, value }) => sum + (name === `${histogram}_${part}` ? value : 0), 0);
  const runs = total("count");
  if (runs === 0) return undefined;
  const meanMs = (1_000 * total("sum")) / runs;
  const buckets = new Map<number, number>();
  for (const { name, labels, value } of rows) {
    if (name !== `${histogram}_bucket`) continue;
    const bound = labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  const sorted = [...buckets].toSorted(([one], [other]) => one - other);
  // A bucket may be as wide as its bound: on a quiet cluster the mean is closer.
  return Math.min(meanMs, 1_000 * quantile(sorted, quietShare * runs));
}

/** The seconds within which so many runs ended, taken as spread evenly over their bucket. */
function quantile(buckets: readonly (readonly [bound: number, runs: number])[], runs: number): number {
  const at = buckets.findIndex(([, upTo]) => upTo >= runs);
  const [lower, runsBelow] = buckets[at - 1] ?? [0, 0];
  const [upper, upTo] = buckets[at] ?? [Number.POSITIVE_INFINITY, 0];
  // No bound above: the mean, which is smaller, wins.
  if (upper === Number.POSITIVE_INFINITY) return upper;
  return lower + ((upper - lower) * (runs - runsBelow)) / Math.max(1, upTo - runsBelow);
}
