/** The daemon's own cgroup, in bytes. */
export interface OwnMemory {
  readonly limitBytes: number;
  /** What cannot be given back, and the program's own text. */
  readonly usageBytes: number;
  /** Kills in the cgroup since it was made; undefined where the kernel does not tell. */
  readonly oomKills: number | undefined;
}

/** The texts of the cgroup's files; undefined where a file could not be read. */
interface OwnMemoryFiles {
  /** v2 `memory.max`, v1 `memory.limit_in_bytes`. */
  readonly limit: string | undefined;
  /** v2 `memory.current`, v1 `memory.usage_in_bytes`. */
  readonly usage: string | undefined;
  /** `memory.stat`; the rows of v1 that count begin with `total_`. */
  readonly stat: string | undefined;
  /** v2 `memory.events`, v1 `memory.oom_control`: both have `oom_kill`. */
  readonly events: string | undefined;
}

/** Growth ends here: what is left is for those who wait already and for a list of the API server. */
const frozenFrom = 0.85;
/** From here on the next allocation may be the one that gets the daemon killed; only what frees something goes on. */
const exhaustedFrom = 0.95;
/** Below its mark by this much a state ends, so that it does not come and go with each request. */
const calmBelow = 0.03;
/**
 * Of the program's text, what it cannot run without: less than this in memory and it reads it from the disk over and
 * over. The rest of a file's pages are given back before anybody is killed, so they do not count: within 50 MiB the
 * kernel fills with them whatever is free.
 */
const textBytes = 12 * 2 ** 20;
/** v1 writes the largest number of pages for "no limit"; no node has 4 PiB. */
const unlimitedBytes = 2 ** 52;

export type MemoryState = "free" | "frozen" | "exhausted";

/** Undefined when there is no limit, or the files are not there: then nobody kills us for using memory. */
export function parseOwnMemory(files: OwnMemoryFiles): OwnMemory | undefined {
  const limitBytes = bytesOf(files.limit);
  const usedBytes = bytesOf(files.usage);
  if (limitBytes === undefined || usedBytes === undefined || limitBytes >= unlimitedBytes) return undefined;
  const usageBytes = Math.max(0, usedBytes - reclaimableBytes(files.stat));
  return { limitBytes, usageBytes, oomKills: rowOf(files.events, "oom_kill") };
}

function reclaimableBytes(stat: string | undefined): number {
  const row = (name: string): number => rowOf(stat, `total_${name}`) ?? rowOf(stat, name) ?? 0;
  const mappedBytes = rowOf(stat, "total_mapped_file") ?? rowOf(stat, "file_mapped") ?? 0;
  const fileBytes = row("inactive_file") + row("active_file");
  return Math.max(0, fileBytes - Math.min(mappedBytes, textBytes)) + row("slab_reclaimable");
}

/** What the memory allows now, given what it was a moment ago. */
export function judgeMemory(memory: OwnMemory | undefined, before: MemoryState): MemoryState {
  if (memory === undefined || memory.limitBytes <= 0) return "free";
  const share = memory.usageBytes / memory.limitBytes;
  if (share >= mark(exhaustedFrom, before === "exhausted")) return "exhausted";
  return share >= mark(frozenFrom, before !== "free") ? "frozen" : "free";
}

function mark(from: number, isThere: boolean): number {
  return isThere ? from - calmBelow : from;
}

function bytesOf(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  return /^\d+$/u.test(trimmed) ? Number(trimmed) : undefined;
}

function rowOf(text: string | undefined, name: string): number | undefined {
  const row = text?.split("\n").find((line) => line.startsWith(`${name} `));
  return row === undefined ? undefined : bytesOf(row.slice(name.length));
}
