import { readFile } from "node:fs/promises";

export interface Memory {
  readonly rssKib: number;
  /** Memory of the process itself, without the program's file. */
  readonly anonymousKib: number;
}

export async function memoryOf(pid: number, proc = "/proc"): Promise<Memory | undefined> {
  const status = await readFile(`${proc}/${pid}/status`, "utf8").catch(() => "");
  const rssKib = field(status, "VmRSS");
  const anonymousKib = field(status, "RssAnon");
  return rssKib === undefined || anonymousKib === undefined ? undefined : { rssKib, anonymousKib };
}

export function processMemoryText(memory: Memory | undefined): string {
  if (memory === undefined) return "unknown";
  return `${mib(memory.rssKib)} MiB (${mib(memory.anonymousKib)} MiB of its own)`;
}

function field(status: string, name: string): number | undefined {
  const digits = new RegExp(`^${name}:\\s+([0-9]+) kB$`, "mu").exec(status)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function mib(kib: number): string {
  return (kib / 1024).toFixed(1);
}
