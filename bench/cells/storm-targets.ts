import type { Bench } from "../bench.ts";
import type { Cell, Verdict } from "../cell.ts";
import { heldVerdict, stormCell, vitalVerdict } from "./storm.ts";

/** How much longer than the delegates alone a storm may take. */
const floorShare = 1.5;
const shimsMib = 300;

/** The limits that Multus' own manifest sets, less the CPU. */
export async function storm219(bench: Bench): Promise<Cell> {
  const { cell, levee } = await stormCell(bench, { name: "storm219", pods: 219, memoryMib: 50, withPeers: true });
  const floor = await bench.floor(levee.pods);
  const limitMs = floorShare * floor.tookMs;
  return {
    ...cell,
    verdicts: [
      heldVerdict(
        levee,
        `${levee.pods} pods at 50Mi: all attached, no kill, no restart, within 1.5 × the delegates alone (${(limitMs / 1000).toFixed(2)} s)`,
        limitMs,
      ),
      vitalVerdict(levee, 500),
      shimsVerdict(levee.runtimeMib),
    ],
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
      vitalVerdict(levee, 1_500),
    ],
  };
}

function shimsVerdict(seenMib: number): Verdict {
  return {
    promise: `all shims of the storm and what they start take at most ${shimsMib} MiB of the host`,
    seen: `${Math.round(seenMib)} MiB`,
    holds: seenMib <= shimsMib,
  };
}
