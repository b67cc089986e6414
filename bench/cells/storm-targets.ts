import type { Bench } from "../bench.ts";
import type { Cell } from "../cell.ts";
import type { StormFigures } from "../storm/figures.ts";
import {
  growthNote,
  growthVerdicts,
  heldVerdict,
  memoryVerdict,
  returnedVerdicts,
  shareVerdicts,
  vitalNotes,
  vitalVerdicts,
} from "./storm-verdicts.ts";
import { stormCell } from "./storm.ts";

/** Of the time of the plugins alone: with built-in plugins, and with programs. */
const shares = { usual: { builtIn: 0.5, programs: 1.25 }, large: { builtIn: 0.6, programs: 1.3 } } as const;
/** How long a critical pod waits at most, with built-in plugins and with programs. */
const vitalMsMax = 150;
const vitalMsAt100m = 300;
/** Of the ADDs: of the pods that a node can have, and of a storm that is larger than a node. */
const returnedSharesMax = { usual: 0, large: 0.02 } as const;

/** The limits of Multus' own manifest, without the CPU limit. */
export async function storm219(bench: Bench): Promise<Cell> {
  const wish = { name: "storm219", pods: 219, memoryMib: 50, withPeers: true, withPrograms: true };
  const { cell, levee, programs, floorMs } = await stormCell(bench, wish);
  await bench.stormOf(219, () => Promise.resolve(levee));
  return {
    ...cell,
    verdicts: [
      ...shareVerdicts([levee, programs], floorMs, shares.usual),
      ...returnedVerdicts([levee, programs], returnedSharesMax.usual),
      ...vitalVerdicts([levee, programs], vitalMsMax),
      memoryVerdict(levee),
    ],
    notes: [...cell.notes, ...vitalNotes(levee, programs)],
  };
}

export async function storm219Cpu(bench: Bench): Promise<Cell> {
  const wish = { name: "storm219cpu", pods: 219, memoryMib: 50, cpuMillis: 100, withPeers: true, withPrograms: true };
  const { cell, levee, programs } = await stormCell(bench, wish);
  return {
    ...cell,
    verdicts: [
      heldVerdict(
        levee,
        `${levee.pods} pods at 50Mi and 100m CPU: all attached, no kill, no restart, within 15 s`,
        15_000,
      ),
      ...vitalVerdicts([levee, programs], vitalMsAt100m),
    ],
    notes: [...cell.notes, ...vitalNotes(levee, programs)],
  };
}

/** Four times as many pods as a node has, and the last ones wait most of a minute. */
export async function storm900(bench: Bench): Promise<Cell> {
  const wish = { name: "storm900", pods: 900, memoryMib: 50, withPeers: false, withPrograms: true, watchesSlots: true };
  const { cell, levee, programs, floorMs } = await stormCell(bench, wish);
  await bench.stormOf(900, () => Promise.resolve(levee));
  return {
    ...cell,
    verdicts: [
      ...shareVerdicts([levee, programs], floorMs, shares.large),
      ...returnedVerdicts([levee, programs], returnedSharesMax.large),
      ...vitalVerdicts([levee, programs], vitalMsMax),
    ],
    notes: [...cell.notes, ...vitalNotes(levee, programs)],
  };
}

/** Ten times as many pods as a node has: a waiting pod must cost almost nothing. */
export async function storm2000(bench: Bench): Promise<Cell> {
  const wish = {
    name: "storm2000",
    pods: 2000,
    memoryMib: 50,
    withPeers: false,
    withPrograms: true,
    watchesSlots: true,
  };
  const { cell, levee, programs, floorMs } = await stormCell(bench, wish);
  const small = await bench.stormOf(219, () => stormAlone(bench, 219));
  const medium = await bench.stormOf(900, () => stormAlone(bench, 900));
  const storms = [small, medium, levee];
  const floors = [];
  for (const { pods } of storms) floors.push({ pods, runtimeCpuMs: (await bench.floor(pods)).runtimeCpuMs });
  return {
    ...cell,
    verdicts: [
      ...shareVerdicts([levee, programs], floorMs, shares.large),
      ...returnedVerdicts([levee, programs], returnedSharesMax.large),
      ...growthVerdicts(levee, small),
    ],
    notes: [...cell.notes, growthNote(storms, floors)],
  };
}

async function stormAlone(bench: Bench, pods: number): Promise<StormFigures> {
  return (await stormCell(bench, { name: `storm${pods}`, pods, memoryMib: 50, withPeers: false })).levee;
}

/** No promise: shows how much more memory helps each contender. */
export async function storm256(bench: Bench): Promise<Cell> {
  return (await stormCell(bench, { name: "storm256", pods: 219, memoryMib: 256, withPeers: true })).cell;
}

export async function storm256Cpu(bench: Bench): Promise<Cell> {
  const wish = { name: "storm256cpu", pods: 219, memoryMib: 256, cpuMillis: 100, withPeers: true };
  return (await stormCell(bench, wish)).cell;
}

/** The journal is synced once per ADD, so this shows the effect of a slow disk. */
export async function slowSync(bench: Bench): Promise<Cell> {
  const wish = { name: "slowsync", pods: 219, memoryMib: 50, syncDelayMs: 5, withPeers: false };
  const { cell, levee } = await stormCell(bench, wish);
  return {
    ...cell,
    verdicts: [
      heldVerdict(levee, `${levee.pods} pods at 50Mi with every sync 5 ms longer: all attached, no kill, no restart`),
    ],
    notes: [
      ...cell.notes,
      "Every fsync, fdatasync and their like of the daemon was held back for 5 ms by strace; all else ran at full speed",
    ],
  };
}
