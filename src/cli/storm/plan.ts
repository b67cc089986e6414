import { existsSync } from "node:fs";
import { usageFailure } from "../failure.ts";
import { readAheadOf, usualKib } from "./machine/read-ahead.ts";
import { bytesText, parseBytes, parseCount, parseCpu, parseSpan } from "./quantity.ts";

/** What one storm is to be. */
export interface StormPlan {
  readonly pods: number;
  readonly limitBytes: number;
  readonly cpuMillis: number | undefined;
  readonly second: SecondPlan;
  /** The site's own configurations; the first is the pods' default network. Empty: two networks of our own. */
  readonly delegates: readonly string[];
  /** After this the pods that are not attached count as lost. */
  readonly timeoutMs: number;
  readonly seed: number;
  /** Where the daemon's program and journal lie; on the kind of disk they have on a node. */
  readonly workDir: string;
  /** The daemon's files are put on a disk of the storm's own with this read-ahead; undefined takes the node's disk. */
  readonly readAheadKib: number | undefined;
}

/** The pods of another namespace, which did nothing to deserve the storm. */
interface SecondPlan {
  readonly pods: number;
  readonly afterMs: number;
  /** How long the slowest of them may wait. */
  readonly withinMs: number;
  readonly isCritical: boolean;
}

/** The command line's words. */
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

/** The kernel has no more than 1,024 ports on a bridge; ten of them are enough for any node. */
export const podsMax = 9000;

/** Below this the daemon's own program does not fit in. */
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

/** By default 128, as disks have it: on a disk of the storm's own when the node's reads further ahead. */
export function readAheadWanted(word: string | undefined, nodeKib: number | undefined): number | undefined {
  if (word === "node") return undefined;
  if (word !== undefined) return parseCount("--read-ahead", word, { min: 4, max: 65_536, example: usualKib });
  return nodeKib === undefined || nodeKib <= usualKib ? undefined : usualKib;
}

function existingFolder(path: string): string {
  if (path.startsWith("/") && existsSync(path)) return path;
  throw usageFailure(
    `Cannot use ${JSON.stringify(path)} as --work-dir: it must be an absolute path of a folder that exists`,
    `--work-dir ${stormDefaults.workDir}`,
  );
}

/** The sizes to try, in order: the one that was asked for, or that and its doubles up to the most. */
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
