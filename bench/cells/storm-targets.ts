import type { Bench } from "../bench.ts";
import type { Cell, Verdict } from "../cell.ts";
import type { StormFigures } from "../storm/figures.ts";
import { heldVerdict, stormCell, vitalVerdict } from "./storm.ts";

/** Of the time of the plugins alone: with built-in plugins, and with programs. */
const shares = { usual: { builtIn: 0.5, programs: 1.25 }, large: { builtIn: 0.6, programs: 1.3 } } as const;
/** What both took before there were built-in plugins. */
const memoryMax = { anonMib: 15.5, shimsMib: 71 } as const;
const grownMibMax = 12;
/** Of the ADDs of a storm that is larger than a node. */
const returnedShareMax = 0.02;

/** The limits of Multus' own manifest, without the CPU limit. */
export async function storm219(bench: Bench): Promise<Cell> {
  const wish = { name: "storm219", pods: 219, memoryMib: 50, withPeers: true, withPrograms: true };
  const seen = await stormCell(bench, wish);
  const { cell, levee } = seen;
  await bench.smallStorm(() => Promise.resolve(levee));
  return {
    ...cell,
    verdicts: [...shareVerdicts(seen, shares.usual), vitalVerdict(levee, 150), memoryVerdict(levee)],
  };
}

export async function storm219Cpu(bench: Bench): Promise<Cell> {
  const { cell, levee } = await stormCell(bench, {
    name: "storm219cpu",
    pods: 219,
    memoryMib: 50,
    cpuMillis: 100,
    withPeers: true,
  });
  return {
    ...cell,
    verdicts: [
      heldVerdict(
        levee,
        `${levee.pods} pods at 50Mi and 100m CPU: all attached, no kill, no restart, within 15 s`,
        15_000,
      ),
      vitalVerdict(levee, 300),
    ],
  };
}

/** Four times as many pods as a node has, and the last ones wait most of a minute. */
export async function storm900(bench: Bench): Promise<Cell> {
  const wish = { name: "storm900", pods: 900, memoryMib: 50, withPeers: false, withPrograms: true };
  const seen = await stormCell(bench, wish);
  const { cell, levee } = seen;
  return {
    ...cell,
    verdicts: [...shareVerdicts(seen, shares.large), ...returnedVerdicts(seen), vitalVerdict(levee, 500)],
  };
}

/** Ten times as many pods as a node has: a waiting pod must cost almost nothing. */
export async function storm2000(bench: Bench): Promise<Cell> {
  const wish = { name: "storm2000", pods: 2000, memoryMib: 50, withPeers: false, withPrograms: true };
  const seen = await stormCell(bench, wish);
  const { cell, levee } = seen;
  const small = await bench.smallStorm(() => storm219Alone(bench));
  const grownMib = levee.anonPeakMib - small.anonPeakMib;
  return {
    ...cell,
    verdicts: [
      ...shareVerdicts(seen, shares.large),
      ...returnedVerdicts(seen),
      {
        promise: `its peak of anonymous memory is at most ${grownMibMax} MiB above that of ${small.pods} pods`,
        seen: `${levee.anonPeakMib.toFixed(1)} against ${small.anonPeakMib.toFixed(1)} MiB`,
        holds: grownMib <= grownMibMax,
      },
    ],
  };
}

async function storm219Alone(bench: Bench): Promise<StormFigures> {
  return (await stormCell(bench, { name: "storm219", pods: 219, memoryMib: 50, withPeers: false })).levee;
}

/** With built-in plugins a storm is faster than the plugins themselves; with programs it is little slower. */
function shareVerdicts(
  { levee, programs, floorMs }: Awaited<ReturnType<typeof stormCell>>,
  share: { readonly builtIn: number; readonly programs: number },
): readonly Verdict[] {
  const within = (figures: StormFigures, times: number, how: string): Verdict =>
    heldVerdict(
      figures,
      `${figures.pods} pods at 50Mi${how}: all attached, no kill, no restart, within ${times} × the delegates alone (${((times * floorMs) / 1000).toFixed(2)} s)`,
      times * floorMs,
    );
  return [
    within(levee, share.builtIn, ""),
    ...(programs === undefined ? [] : [within(programs, share.programs, " with built-ins off")]),
  ];
}

function returnedVerdicts({ levee, programs }: Awaited<ReturnType<typeof stormCell>>): readonly Verdict[] {
  return [levee, ...(programs === undefined ? [] : [programs])].map(({ label, pods, failedAdds }) => ({
    promise: `${label}: at most ${returnedShareMax * 100} % of the ADDs are told to come back`,
    seen: `${failedAdds} of ${pods + failedAdds}`,
    holds: failedAdds <= returnedShareMax * (pods + failedAdds),
  }));
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

function memoryVerdict({ anonPeakMib, runtimeMib }: StormFigures): Verdict {
  const { anonMib, shimsMib } = memoryMax;
  return {
    promise: `the daemon's peak of anonymous memory is at most ${anonMib} MiB; all shims and what they start take at most ${shimsMib} MiB of the host`,
    seen: `${anonPeakMib.toFixed(1)} and ${runtimeMib.toFixed(1)} MiB`,
    holds: anonPeakMib <= anonMib && runtimeMib <= shimsMib,
  };
}
