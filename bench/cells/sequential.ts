import { randomBytes } from "node:crypto";
import type { Caller, CallVerb } from "../../src/cli/storm/caller/caller.ts";
import { netnsNameOf, type FleetPod } from "../../src/cli/storm/fleet.ts";
import { barChart } from "../bar-chart.ts";
import type { Bench } from "../bench.ts";
import { round, type Cell, type Verdict } from "../cell.ts";
import type { RunningNode } from "../contenders/contender.ts";
import { floorCaller } from "../contenders/floor.ts";
import { stormPods } from "../storm/pods.ts";
import { timedCells, timedHeader, timedRow, type TimedRow } from "../timed-row.ts";

/** The first pods create the bridges and warm the page cache for all contenders. They do not count. */
const warmUp = 3;
const addedMs = 10;

interface Runner {
  readonly label: string;
  readonly caller: Caller;
  readonly add: number[];
  readonly del: number[];
}

/** Pods one after another on two networks, each contender in turn with the same pod in its own namespace. */
export async function sequential(bench: Bench): Promise<Cell> {
  await bench.ground.clear();
  const nodes: RunningNode[] = [];
  try {
    const runners = [runnerOf("the two delegates directly", await floorCaller(bench.ground, 1))];
    for (const contender of [bench.levee, ...bench.peers.slice(0, 2)]) {
      if ("missing" in contender) continue;
      const node = await contender.start({ limits: {} });
      nodes.push(node);
      runners.push(runnerOf(contender.label, node.caller));
    }
    const count = bench.count(60);
    await measure(bench, runners, count);
    const rows = [
      ...runners.map(({ label, add }) => timedRow(`ADD: ${label}`, add)),
      ...runners.map(({ label, del }) => timedRow(`DEL: ${label}`, del)),
    ];
    const title = `${count} pods one after another, two networks each`;
    return {
      name: "sequential",
      title,
      command: "npm run bench -- sequential",
      header: timedHeader,
      rows: rows.map(timedCells),
      verdicts: verdictsOf(rows),
      notes: [],
      plots: { sequential: barChart({ title, unit: "ms", rows }) },
      figures: rows,
    };
  } finally {
    for (const node of nodes) await node.stop();
  }
}

function runnerOf(label: string, caller: Caller): Runner {
  return { label, caller, add: [], del: [] };
}

async function measure(bench: Bench, runners: readonly Runner[], count: number): Promise<void> {
  const pods = await bench.ground.source.addPods(stormPods(count + warmUp));
  for (const [index, pod] of pods.entries()) {
    for (const runner of inTurn(runners, index)) {
      const times = await once(bench, runner, pod);
      if (index < warmUp) continue;
      runner.add.push(times.addMs);
      runner.del.push(times.delMs);
    }
  }
}

/**
 * Each contender comes first in turn, and equally often after each of the others: the kernel is still removing the
 * namespace of the previous one, and that delays a DEL.
 */
function inTurn<T>(runners: readonly T[], round: number): readonly T[] {
  const first = Math.floor(round / 2) % runners.length;
  const rotated = [...runners.slice(first), ...runners.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}

async function once(
  { ground }: Bench,
  { label, caller }: Runner,
  pod: FleetPod,
): Promise<{ readonly addMs: number; readonly delMs: number }> {
  await ground.netns.add([netnsNameOf(pod)]);
  const netnsPath = ground.netns.path(netnsNameOf(pod));
  const sandbox = { ...pod, containerId: randomBytes(32).toString("hex"), netnsPath };
  const timed = async (verb: CallVerb): Promise<number> => {
    const startedMs = performance.now();
    const end = await caller.call(verb, sandbox);
    const tookMs = performance.now() - startedMs;
    if (!end.isOk) throw new Error(`${verb} failed with ${label}: ${end.message}`);
    return tookMs;
  };
  const times = { addMs: await timed("ADD"), delMs: await timed("DEL") };
  await ground.netns.removeAll();
  return times;
}

function verdictsOf(rows: readonly TimedRow[]): readonly Verdict[] {
  const medianOf = (label: string): number => rows.find((row) => row.label === label)?.median ?? Number.NaN;
  return (["ADD", "DEL"] as const).map((verb) => {
    const added = round(medianOf(`${verb}: Levee`) - medianOf(`${verb}: the two delegates directly`));
    return {
      promise: `one pod at a time: at most ${addedMs} ms added to each ${verb}`,
      seen: `${added} ms`,
      holds: added <= addedMs,
    };
  });
}
