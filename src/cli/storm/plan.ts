import { existsSync } from "node:fs";
import { usageFailure } from "../failure.ts";
import { readAheadOf, usualKib } from "./machine/read-ahead.ts";
import { bytesText, parseBytes, parseCount, parseCpu, parseSpan } from "./quantity.ts";

/** The parameters of one storm. */
export interface StormPlan {
  readonly pods: number;
  readonly limitBytes: number;
  readonly cpuMillis: number | undefined;
  readonly second: SecondPlan;
  /** The site's own configurations; the first is the pods' default network. If empty, the storm makes two networks. */
  readonly delegates: readonly string[];
  /** After this time, pods that are not attached count as lost. */
  readonly timeoutMs: number;
  readonly seed: number;
  /** The folder of the daemon's program and journal, on the kind of disk that a node uses for them. */
  readonly workDir: string;
  /** The daemon's files are on the storm's own disk with this read-ahead; undefined means the node's disk. */
  readonly readAheadKib: number | undefined;
}

/** The pods of a second namespace, which has no part in the storm. */
interface SecondPlan {
  readonly pods: number;
  readonly afterMs: number;
  /** How long the slowest of them may wait. */
  readonly withinMs: number;
  readonly isCritical: boolean;
}

/** The options as given on the command line. */
export interface StormWords {
  readonly pods: string;
  readonly limit: string;
  readonly cpu?: string;
  readonly second: string;
  readonly secondAfter: string;
  readonly secondWithin: string;
  readonly critical?: true;
  readonly delegate?: readonly string[];
  readonly timeout: string;
  readonly seed: string;
  readonly workDir: string;
  readonly readAhead?: string;
  readonly untilItBreaks?: true;
  readonly maxPods: string;
}

/** The kernel allows 1,024 ports on a bridge; ten bridges are enough for any node. */
export const podsMax = 9000;

/** The daemon's own program does not fit into less. */
const limitBytesMin = 16 * 1024 ** 2;

export const stormDefaults = {
  pods: "219",
  limit: "50Mi",
  second: "6",
  secondAfter: "2s",
  secondWithin: "3s",
  timeout: "3m",
  seed: "1",
  workDir: "/var/lib",
  maxPods: "2000",
} as const;

export function readPlan(words: StormWords): StormPlan {
  const limitBytes = parseBytes("--limit", words.limit);
  if (limitBytes < limitBytesMin)
    throw usageFailure(
      `Cannot run the daemon in ${words.limit}: it needs at least ${bytesText(limitBytesMin)} to start`,
      `--limit ${stormDefaults.limit}`,
    );
  const workDir = existingFolder(words.workDir);
  return {
    pods: parseCount("--pods", words.pods, { min: 1, max: podsMax }),
    limitBytes,
    cpuMillis: words.cpu === undefined ? undefined : parseCpu("--cpu", words.cpu),
    second: {
      pods: parseCount("--second", words.second, { min: 0, max: 900 }),
      afterMs: parseSpan("--second-after", words.secondAfter),
      withinMs: parseSpan("--second-within", words.secondWithin),
      isCritical: words.critical === true,
    },
    delegates: words.delegate ?? [],
    timeoutMs: parseSpan("--timeout", words.timeout),
    seed: parseCount("--seed", words.seed, { min: 1, max: 999_999_999 }),
    workDir,
    readAheadKib: readAheadWanted(words.readAhead, readAheadOf(workDir).kib),
  };
}

/** By default the usual 128: on the storm's own disk if the node's disk reads further ahead. */
export function readAheadWanted(word: string | undefined, nodeKib: number | undefined): number | undefined {
  if (word === "node") return undefined;
  if (word !== undefined) return parseCount("--read-ahead", word, { min: 4, max: 65_536, example: usualKib });
  return nodeKib === undefined || nodeKib <= usualKib ? undefined : usualKib;
}

function existingFolder(path: string): string {
  if (path.startsWith("/") && existsSync(path)) return path;
  throw usageFailure(
    `Cannot use ${JSON.stringify(path)} as --work-dir: it must be the absolute path of an existing folder`,
    `--work-dir ${stormDefaults.workDir}`,
  );
}

/** The sizes to try, in order: the given one, or with --until-it-breaks its doubles up to --max-pods. */
export function sizesOf(plan: StormPlan, words: Pick<StormWords, "untilItBreaks" | "maxPods">): readonly number[] {
  const max = parseCount("--max-pods", words.maxPods, { min: 1, max: podsMax });
  if (words.untilItBreaks !== true) return [plan.pods];
  if (plan.pods > max)
    throw usageFailure(`Cannot start with ${plan.pods} pods: --max-pods is ${max}`, `--max-pods ${podsMax}`);
  const sizes: number[] = [];
  for (let size = plan.pods; size < max; size *= 2) sizes.push(size);
  return [...sizes, max];
}

/** "219 pods at 50Mi and 100m of CPU" */
export function stormPlanText({
  pods,
  limitBytes,
  cpuMillis,
}: Pick<StormPlan, "pods" | "limitBytes" | "cpuMillis">): string {
  const cpu = cpuMillis === undefined ? "" : ` and ${cpuMillis}m of CPU`;
  return `${pods} pod${pods === 1 ? "" : "s"} at ${bytesText(limitBytes)}${cpu}`;
}
