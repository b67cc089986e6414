import { randomBytes } from "node:crypto";
import { systemClock } from "../../src/base/clock.ts";
import type { Caller, CallVerb } from "../../src/cli/storm/caller/caller.ts";
import { programCaller } from "../../src/cli/storm/caller/program-caller.ts";
import { netnsNameOf, type FleetPod } from "../../src/cli/storm/fleet.ts";
import type { TimelineAnswer } from "../../src/wire/node-view.ts";
import { ask } from "../../test/lab/ask.ts";
import { barChart } from "../bar-chart.ts";
import type { Bench } from "../bench.ts";
import { round, type Cell, type Verdict } from "../cell.ts";
import type { RunningNode } from "../contenders/contender.ts";
import { floorCaller } from "../contenders/floor.ts";
import { Levee } from "../contenders/levee.ts";
import { stackedChart, type StackedRow } from "../stacked-chart.ts";
import { stormPods } from "../storm/pods.ts";
import { timedCells, timedHeader, timedRow } from "../timed-row.ts";

/** The first pods create the bridges and warm the page cache for all contenders. They do not count. */
const warmUp = 3;
/** With built-in plugins: of the time of the plugins run directly, and what is neither in them nor in one start. */
const builtInShare = 0.5;
const ownMsMax = 3;
/** With programs: more than the plugins run directly. */
const addedMs = 10;
const floor = "the two delegates directly";
/** Of the delegates run directly the caller starts two. */
const floorStarts = 2;
const emptyProgram = "/bin/true";

interface Runner {
  readonly label: string;
  readonly caller: Caller;
  /** Of a Levee, which can say how long the plugins of an ADD took. */
  readonly socketDir?: string;
  readonly add: number[];
  readonly del: number[];
  /** The plugins' share of each ADD, by the shim's clock. */
  readonly plugins: number[];
}

/** A program that does nothing: what starting any program costs the caller. */
interface Start {
  readonly caller: Caller;
  readonly timesMs: number[];
}

/** Pods one after another on two networks, each contender in turn with the same pod in its own namespace. */
export async function sequential(bench: Bench): Promise<Cell> {
  await bench.ground.clear();
  const nodes: RunningNode[] = [];
  try {
    const runners = [runnerOf(floor, await floorCaller(bench.ground, 1))];
    for (const contender of [bench.levee, bench.programs, ...bench.peers.slice(0, 2)]) {
      if ("missing" in contender) continue;
      const node = await contender.start({ limits: {} });
      nodes.push(node);
      const { socketDir } = contender instanceof Levee ? contender : {};
      runners.push(runnerOf(contender.label, node.caller, socketDir));
    }
    const count = bench.count(60);
    const start: Start = { caller: await emptyCaller(bench), timesMs: [] };
    await measure(bench, runners, start, count);
    const startMs = median(start.timesMs);
    const rows = [
      ...runners.map(({ label, add }) => timedRow(`ADD: ${label}`, add)),
      ...runners.map(({ label, del }) => timedRow(`DEL: ${label}`, del)),
      timedRow(`an empty program (${emptyProgram})`, start.timesMs),
    ];
    const title = `${count} pods one after another, two networks each`;
    return {
      name: "sequential",
      title,
      command: "npm run bench -- sequential",
      header: timedHeader,
      rows: rows.map(timedCells),
      verdicts: verdictsOf(runners, startMs),
      notes: runners.filter(({ socketDir }) => socketDir !== undefined).map((runner) => ownNote(runner, startMs)),
      plots: {
        sequential: barChart({ title, unit: "ms", rows }),
        parts: stackedChart({
          title: "Where the time of one ADD on two networks goes",
          rows: partsOf(runners, startMs),
        }),
      },
      figures: { rows, parts: partsOf(runners, startMs) },
    };
  } finally {
    for (const node of nodes) await node.stop();
  }
}

function runnerOf(label: string, caller: Caller, socketDir?: string): Runner {
  return { label, caller, ...(socketDir === undefined ? {} : { socketDir }), add: [], del: [], plugins: [] };
}

function emptyCaller({ ground }: Bench): Promise<Caller> {
  return programCaller({
    clock: systemClock,
    program: emptyProgram,
    conf: "{}",
    cniPath: ground.bin,
    env: {},
    folder: ground.runFolder("empty-calls"),
  });
}

async function measure(bench: Bench, runners: readonly Runner[], start: Start, count: number): Promise<void> {
  const pods = await bench.ground.source.addPods(stormPods(count + warmUp));
  for (const [index, pod] of pods.entries()) {
    if (index >= warmUp) start.timesMs.push(await startOnce(start, pod));
    for (const runner of inTurn(runners, index)) {
      const times = await once(bench, runner, pod);
      if (index < warmUp) continue;
      runner.add.push(times.addMs);
      runner.del.push(times.delMs);
      if (times.pluginsMs !== undefined) runner.plugins.push(times.pluginsMs);
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

/** As a DEL, which needs no output. */
async function startOnce({ caller }: Start, pod: FleetPod): Promise<number> {
  const startedMs = performance.now();
  const end = await caller.call("DEL", { ...pod, containerId: "empty", netnsPath: "" });
  if (!end.isOk) throw new Error(`${emptyProgram} failed: ${end.message}`);
  return performance.now() - startedMs;
}

interface Times {
  readonly addMs: number;
  readonly delMs: number;
  readonly pluginsMs: number | undefined;
}

async function once({ ground }: Bench, { label, caller, socketDir }: Runner, pod: FleetPod): Promise<Times> {
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
  const addMs = await timed("ADD");
  const pluginsMs = socketDir === undefined ? undefined : await pluginsOf(socketDir, sandbox);
  const times = { addMs, pluginsMs, delMs: await timed("DEL") };
  await ground.netns.removeAll();
  return times;
}

async function pluginsOf(
  socketDir: string,
  { namespace, name, containerId }: { readonly namespace: string; readonly name: string; readonly containerId: string },
): Promise<number> {
  const { entries } = await ask<TimelineAnswer>(socketDir, { ask: "timeline", namespace, name });
  return entries
    .filter((entry) => entry.what === "ran" && entry.verb === "ADD" && entry.containerId === containerId)
    .reduce((sum, { tookMs = 0 }) => sum + tookMs, 0);
}

/** What an ADD takes besides its plugins, call by call. */
function ownOf({ add, plugins }: Runner): readonly number[] {
  return add.map((addMs, index) => addMs - (plugins[index] ?? 0));
}

function median(times: readonly number[]): number {
  return timedRow("", times).median;
}

function ownNote(runner: Runner, startMs: number): string {
  const own = median(ownOf(runner));
  return `${runner.label}: of the median ADD the plugins take ${round(median(runner.plugins))} ms, everything else ${round(own)} ms, of which ${round(startMs)} ms are the start of one program, which the runtime pays for any plugin`;
}

/** Multus does not tell its plugins' time, so the plugins run directly stand for it. */
function partsOf(runners: readonly Runner[], startMs: number): readonly StackedRow[] {
  const direct = Math.max(0, median(runners[0]?.add ?? []) - floorStarts * startMs);
  return runners.map((runner) => {
    const isFloor = runner.label === floor;
    const starts = isFloor ? floorStarts * startMs : startMs;
    const plugins = runner.plugins.length === 0 ? direct : median(runner.plugins);
    const rest = isFloor ? 0 : Math.max(0, median(runner.add) - plugins - starts);
    const parts = [part("starts by the runtime", starts), part("plugins", plugins), part("everything else", rest)];
    return { label: runner.label, parts };
  });
}

function part(name: string, ms: number): StackedRow["parts"][number] {
  return { name, ms: round(ms) };
}

function verdictsOf([direct, levee, programs]: readonly Runner[], startMs: number): readonly Verdict[] {
  if (direct === undefined || levee === undefined || programs === undefined) return [];
  const [floorAdd, floorDel] = [median(direct.add), median(direct.del)];
  const own = median(ownOf(levee)) - startMs;
  const added = (runner: Runner): number => round(median(runner.add) - floorAdd);
  return [
    {
      promise: `one ADD of two networks takes at most ${builtInShare} × the delegates directly (${round(builtInShare * floorAdd)} ms)`,
      seen: `${median(levee.add)} ms`,
      holds: median(levee.add) <= builtInShare * floorAdd,
    },
    {
      promise: `of it, what Levee adds to the plugins and to the start of one program (${round(startMs)} ms) is at most ${ownMsMax} ms`,
      seen: `${round(own)} ms`,
      holds: own <= ownMsMax,
    },
    {
      promise: `one DEL is no slower than the delegates directly (${floorDel} ms)`,
      seen: `${median(levee.del)} ms`,
      holds: median(levee.del) <= floorDel,
    },
    {
      promise: `with built-ins off, at most ${addedMs} ms are added to each ADD`,
      seen: `${added(programs)} ms`,
      holds: added(programs) <= addedMs,
    },
  ];
}
