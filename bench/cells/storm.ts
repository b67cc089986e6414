import type { Bench } from "../bench.ts";
import { round, seconds, type Cell } from "../cell.ts";
import type { Contender, StartOptions } from "../contenders/contender.ts";
import { floorLabel } from "../contenders/floor.ts";
import { Levee } from "../contenders/levee.ts";
import { mib } from "../storm/meter.ts";
import { stormPods, vitalPods } from "../storm/pods.ts";
import { acrossRuns, middleRun } from "../runs.ts";
import { attachTimes, stormOn } from "../storm/storm.ts";
import { SlotWatch } from "../storm/slot-watch.ts";
import { figuresOf, type StormFigures } from "../storm/figures.ts";
import { slotNotes } from "./storm-verdicts.ts";
import { timeLine, type Curve } from "../time-line.ts";

export interface StormCell {
  readonly name: string;
  readonly memoryMib: number;
  readonly cpuMillis?: number;
  readonly pods: number;
  readonly syncDelayMs?: number;
  readonly withPeers: boolean;
  /** Also Levee without built-in plugins. */
  readonly withPrograms?: boolean;
  /** Asks each Levee during the storm whether slots stand idle. */
  readonly watchesSlots?: boolean;
}

/** The storm through Levee as it is installed, and through Levee without built-in plugins. */
interface StormSeen {
  readonly cell: Cell;
  readonly levee: StormFigures;
  readonly programs: StormFigures | undefined;
  /** The delegates alone, at the same size. */
  readonly floorMs: number;
}

/** Contenders that never finish are stopped here. */
const peerCutMs = 120_000;
/** Ten times as many pods as a node has take minutes on two cores. */
const leveeCutMs = 300_000;

const header = [
  "",
  "attached",
  "time",
  "critical pods wait",
  "failed ADDs",
  "OOM kills",
  "peak MiB (anonymous)",
  "processes",
  "CPU of its cgroup",
  "shims MiB",
];

/** The storm of the outage: all pods at once, six critical ones of another namespace 2 s in. */
export async function stormCell(bench: Bench, cell: StormCell): Promise<StormSeen> {
  const pods = bench.count(cell.pods);
  const floor = await bench.floor(pods);
  bench.say(`${floorLabel}: ${seconds(floor.tookMs)}`);
  const levee = await ours(bench, bench.levee, cell);
  const programs = cell.withPrograms === true ? await ours(bench, bench.programs, cell) : undefined;
  const figures = [levee, ...(programs === undefined ? [] : [programs])];
  const absent: string[][] = [];
  for (const peer of cell.withPeers ? bench.peers : []) {
    if ("missing" in peer) absent.push([peer.label, peer.missing, ...header.slice(2).map(() => "–")]);
    else figures.push(await one(bench, peer, cell));
  }
  const floorRow = [
    floorLabel,
    `${pods}`,
    acrossRuns(floor.runsMs, seconds),
    "–",
    "–",
    "–",
    "–",
    "–",
    "–",
    `${round(floor.runtimeMib)}`,
  ];
  const title = titleOf(cell, pods);
  const curves: Curve[] = [
    { label: "the delegates alone", attachedAtMs: attachTimes(floor) },
    ...figures.map(({ label, attachedAtMs }) => ({ label, attachedAtMs })),
  ];
  return {
    levee,
    programs,
    floorMs: floor.tookMs,
    cell: {
      name: cell.name,
      title,
      command: `npm run bench -- ${cell.name}`,
      header,
      rows: [floorRow, ...figures.map(rowOf), ...absent],
      verdicts: [],
      notes: figures.flatMap(slotNotes),
      plots: { [cell.name]: timeLine({ title, pods, curves }) },
      figures: { floorMs: floor.tookMs, contenders: figures },
    },
  };
}

/** As often as the floor, as two small storms differ by a tenth: the middle one by its time, with all that went wrong. */
async function ours(bench: Bench, contender: Contender, cell: StormCell): Promise<StormFigures> {
  const runs: StormFigures[] = [];
  while (runs.length < bench.runsOf(bench.count(cell.pods))) runs.push(await one(bench, contender, cell));
  const worst = (pick: (one: StormFigures) => number): number => Math.max(...runs.map(pick));
  return {
    ...middleRun(runs, ({ tookMs = Infinity }) => tookMs),
    failedAdds: worst(({ failedAdds }) => failedAdds),
    oomKills: worst(({ oomKills }) => oomKills),
    restarts: worst(({ restarts }) => restarts),
  };
}

async function one(bench: Bench, contender: Contender, cell: StormCell): Promise<StormFigures> {
  await bench.ground.clear();
  const pods = stormPods(bench.count(cell.pods));
  await bench.ground.source.addPods([...pods, ...vitalPods]);
  const node = await contender.start(startOptions(cell));
  let watch: SlotWatch | undefined;
  const onBegin = (): void => {
    if (cell.watchesSlots === true && contender instanceof Levee) watch = new SlotWatch(contender.socketDir);
  };
  try {
    const cutMs = contender instanceof Levee ? leveeCutMs : peerCutMs;
    const outcome = await stormOn(bench.ground, node, { pods, late: vitalPods, cutMs, onBegin });
    const slots = watch?.stop();
    const figures = { ...figuresOf(contender.label, outcome, node.daemon), ...(slots === undefined ? {} : { slots }) };
    bench.say(
      `${contender.label}: ${figures.attached} of ${figures.pods} in ${seconds(figures.tookMs ?? figures.endedMs)}`,
    );
    return figures;
  } finally {
    watch?.stop();
    await node.stop();
  }
}

function startOptions({ memoryMib, cpuMillis, syncDelayMs }: StormCell): StartOptions {
  return {
    limits: { memoryBytes: memoryMib * mib, ...(cpuMillis === undefined ? {} : { cpuMillis }) },
    ...(syncDelayMs === undefined ? {} : { syncDelayMs }),
  };
}

function rowOf(figures: StormFigures): readonly string[] {
  const worst = figures.vitalWaitsMs[0];
  return [
    figures.label,
    figures.tookMs === undefined
      ? `${figures.attached} in ${Math.round(figures.endedMs / 1000)} s`
      : `${figures.attached}`,
    seconds(figures.tookMs),
    seconds(worst),
    `${figures.failedAdds}`,
    `${figures.oomKills}`,
    `${Math.round(figures.peakMib)} (${Math.round(figures.anonPeakMib)})`,
    `${figures.processesMax}`,
    seconds(figures.daemonCpuMs),
    `${Math.round(figures.runtimeMib)}`,
  ];
}

function titleOf({ memoryMib, cpuMillis, syncDelayMs }: StormCell, pods: number): string {
  const cpu = cpuMillis === undefined ? "" : ` and ${cpuMillis}m CPU`;
  const sync = syncDelayMs === undefined ? "" : `, every sync ${syncDelayMs} ms longer`;
  return `${pods} pods at once, ${memoryMib}Mi${cpu}${sync}`;
}
