/**
 * The kernel's pressure values of a resource (`/proc/pressure/*`): percent of the last 10 s in which some process, or
 * all processes, waited for it.
 */
interface Stall {
  readonly some: number;
  readonly full: number;
}

/** A value that the kernel does not report is absent and counts as no pressure. */
export interface HostPressure {
  readonly cpu?: Stall | undefined;
  readonly memory?: Stall | undefined;
  readonly io?: Stall | undefined;
}

/** `busy`: the cores are busy. `high`: the limit must not grow. `severe`: the limit must shrink. */
export type PressureLevel = "calm" | "busy" | "high" | "severe";

/** If all processes wait for memory a tenth of the time, the host is thrashing, and more plugins make it worse. */
const memoryFullSevere = 10;
/** The kernel reclaims memory all the time, so no more plugins fit. */
const memorySomeHigh = 20;
/** Plugins write little. If all processes wait for the disk so often, calls wait for the sync of the journal. */
const ioFullSevere = 60;
const ioFullHigh = 30;
/** Some process waits for a core most of the time. */
const cpuSomeBusy = 60;

const noStall: Stall = { some: 0, full: 0 };

export function judgePressure({ cpu = noStall, memory = noStall, io = noStall }: HostPressure): PressureLevel {
  if (memory.full >= memoryFullSevere || io.full >= ioFullSevere) return "severe";
  if (memory.some >= memorySomeHigh || io.full >= ioFullHigh) return "high";
  return cpu.some >= cpuSomeBusy ? "busy" : "calm";
}

/** Parses one pressure file; undefined for another format (an old kernel, or pressure turned off). */
export function parseStall(text: string): Stall | undefined {
  const some = avg10(text, "some");
  if (some === undefined) return undefined;
  // Older kernels write no "full" line for the CPU.
  return { some, full: avg10(text, "full") ?? 0 };
}

/** How long some process has waited since the start of the machine; undefined for another format. */
export function parseWaitedMs(text: string): number | undefined {
  const found = /^some .* total=(\d+)$/mu.exec(text)?.[1];
  return found === undefined ? undefined : Number(found) / 1_000;
}

function avg10(text: string, kind: "some" | "full"): number | undefined {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${kind} `));
  const found = / avg10=(\d+(?:\.\d+)?)/u.exec(line ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
}
