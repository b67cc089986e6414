/**
 * What the kernel says of a resource (`/proc/pressure/*`): percent of the last 10 s in which somebody, or everybody,
 * had to wait for it.
 */
interface Stall {
  readonly some: number;
  readonly full: number;
}

/** Each is absent where the kernel does not tell; that is no error and counts as no pressure. */
export interface HostPressure {
  readonly cpu?: Stall | undefined;
  readonly memory?: Stall | undefined;
  readonly io?: Stall | undefined;
}

/** `busy`: the cores; `high`: no more than now; `severe`: less than now. */
export type PressureLevel = "calm" | "busy" | "high" | "severe";

/** With all processes waiting for memory a tenth of the time, the host is thrashing; more plugins make it worse. */
const memoryFullSevere = 10;
/** Somebody reclaims memory all the time: what runs now is all that fits. */
const memorySomeHigh = 20;
/** Plugins write little; with everybody waiting for the disk this often, the sync of the journal is what they wait for. */
const ioFullSevere = 60;
const ioFullHigh = 30;
/** Most of the time somebody waits for a core. */
const cpuSomeBusy = 60;

const noStall: Stall = { some: 0, full: 0 };

export function judgePressure({ cpu = noStall, memory = noStall, io = noStall }: HostPressure): PressureLevel {
  if (memory.full >= memoryFullSevere || io.full >= ioFullSevere) return "severe";
  if (memory.some >= memorySomeHigh || io.full >= ioFullHigh) return "high";
  return cpu.some >= cpuSomeBusy ? "busy" : "calm";
}

/** The text of one file; undefined when it is not what the kernel writes (an older one, or pressure turned off). */
export function parseStall(text: string): Stall | undefined {
  const some = avg10(text, "some");
  if (some === undefined) return undefined;
  // Older kernels write no "full" line for the CPU.
  return { some, full: avg10(text, "full") ?? 0 };
}

function avg10(text: string, kind: "some" | "full"): number | undefined {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${kind} `));
  const found = / avg10=(\d+(?:\.\d+)?)/u.exec(line ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
}
