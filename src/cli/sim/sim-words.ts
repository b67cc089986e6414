import type { MachineModel } from "../../sim/machine/machine-model.ts";
import type { Implementation, SimStormPlan, SimStormPod } from "../../sim/storm/sim-storm-plan.ts";
import { usageFailure } from "../failure.ts";
import { parseBytes, parseCount, parseCpu, parseSpan } from "../storm/quantity.ts";
import { stormPlanText } from "../storm/plan.ts";

/** The options of `levee sim storm` as given on the command line. */
export interface SimWords {
  readonly nodes: string;
  readonly pods: string;
  readonly limit: string;
  readonly cpu?: string;
  readonly impl: string;
  readonly connectionLimit?: string;
  readonly critical: string;
  readonly criticalAfter: string;
  readonly criticalWithin: string;
  readonly timeout: string;
  readonly seed: string;
}

export const simDefaults = {
  nodes: "3",
  pods: "219",
  limit: "50Mi",
  impl: "levee",
  critical: "6",
  criticalAfter: "2s",
  criticalWithin: "3s",
  timeout: "3m",
  seed: "1",
} as const;

/** As many as one command can simulate in a few minutes. Nobody waits a day for a pod. */
export const simMax = {
  nodes: 100,
  pods: 5_000,
  connectionLimit: 10_000,
  seed: 999_999_999,
  spanMs: 24 * 3_600_000,
} as const;
export const spanMaxText = `${simMax.spanMs / 3_600_000}h`;
const simNetwork = "net-a";
/** No process runs in less. */
export const leastBytes = 1024 ** 2;

export const implementationNames: readonly Implementation[] = ["levee", "multus-4.2.2", "multus-4.3.0"];

export function readSimPlan(words: SimWords, model: MachineModel): SimStormPlan {
  const count = (name: keyof SimWords, option: string, min: number, max: number): number =>
    parseCount(option, words[name] ?? "", { min, max, example: min === 0 ? 6 : 3 });
  const nodes = namesOf(count("nodes", "--nodes", 1, simMax.nodes));
  const pods = parseCount("--pods", words.pods, { min: 1, max: simMax.pods });
  const critical = count("critical", "--critical", 0, simMax.pods);
  const impl = implementationOf(words.impl);
  const limits = {
    limitBytes: atLeast(parseBytes("--limit", words.limit), words.limit),
    cpuMillis: words.cpu === undefined ? undefined : parseCpu("--cpu", words.cpu),
  };
  const criticalAfterMs = spanOf("--critical-after", words.criticalAfter, simDefaults.criticalAfter);
  return {
    title: titleOf({ pods, nodes: nodes.length, ...limits }),
    impl,
    connectionLimit: connectionLimitOf(words, impl),
    seed: parseCount("--seed", words.seed, { min: 1, max: simMax.seed, example: 1 }),
    nodes,
    limits,
    model,
    networks: [simNetwork],
    pods: [
      ...spread(pods, nodes, { namespace: "storm", prefix: "pod", isCritical: false, atMs: 0 }),
      ...spread(critical, nodes, {
        namespace: "kube-system",
        prefix: "critical",
        isCritical: true,
        atMs: criticalAfterMs,
      }),
    ],
    faults: [],
    timeoutMs: spanOf("--timeout", words.timeout, simDefaults.timeout),
    criticalWithinMs: spanOf("--critical-within", words.criticalWithin, simDefaults.criticalWithin),
    restartMs: undefined,
  };
}

function spanOf(option: string, word: string, example: string): number {
  const ms = parseSpan(option, word);
  if (ms <= simMax.spanMs) return ms;
  throw usageFailure(
    `Cannot use ${JSON.stringify(word)} as ${option}: it must be at most ${spanMaxText}`,
    `${option} ${example}`,
  );
}

interface PodKind {
  readonly namespace: string;
  readonly prefix: string;
  readonly isCritical: boolean;
  readonly atMs: number;
}

/** The same number on each node. */
function spread(count: number, nodes: readonly string[], kind: PodKind): readonly SimStormPod[] {
  const { namespace, prefix, isCritical, atMs } = kind;
  return Array.from({ length: count }, (_, number) => ({
    node: nodes[number % nodes.length] ?? "",
    namespace,
    name: `${prefix}-${number}`,
    isCritical,
    networks: [simNetwork],
    atMs,
    deleteAtMs: undefined,
    mustRun: true,
  }));
}

function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `node-${number + 1}`);
}

interface TitleFacts {
  readonly pods: number;
  readonly nodes: number;
  readonly limitBytes: number;
  readonly cpuMillis: number | undefined;
}

/** "219 pods at 50Mi, on 3 nodes" */
function titleOf({ nodes, ...plan }: TitleFacts): string {
  return `${stormPlanText(plan)}, on ${nodes === 1 ? "one node" : `${nodes} nodes`}`;
}

export function implementationOf(word: string): Implementation {
  const found = implementationNames.find((name) => name === word);
  if (found !== undefined) return found;
  throw usageFailure(
    `Cannot simulate ${JSON.stringify(word)}: --impl must be one of ${implementationNames.join(", ")}`,
    "--impl levee",
  );
}

function connectionLimitOf({ connectionLimit }: SimWords, impl: Implementation): number | undefined {
  if (connectionLimit === undefined) return undefined;
  if (impl !== "multus-4.3.0")
    throw usageFailure(
      `Cannot give ${impl} a connection limit: only Multus 4.3.0 has one`,
      `--impl multus-4.3.0 --connection-limit ${connectionLimit}`,
    );
  return parseCount("--connection-limit", connectionLimit, { min: 1, max: simMax.connectionLimit, example: 8 });
}

function atLeast(bytes: number, word: string): number {
  if (bytes >= leastBytes) return bytes;
  throw usageFailure(`Cannot run a daemon in ${word}: the limit must be at least 1Mi`, `--limit ${simDefaults.limit}`);
}
