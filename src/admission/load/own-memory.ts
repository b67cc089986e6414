/** The daemon's own cgroup, in bytes. */
export interface OwnMemory {
  readonly limitBytes: number;
  /** Memory that the kernel cannot reclaim, and the program's own text. */
  readonly usageBytes: number;
  /** OOM kills in the cgroup since its creation; undefined where the kernel does not count them. */
  readonly oomKills: number | undefined;
}

/** The contents of the cgroup's files; undefined for an unreadable file. */
interface OwnMemoryFiles {
  /** v2 `memory.max`, v1 `memory.limit_in_bytes`. */
  readonly limit: string | undefined;
  /** v2 `memory.current`, v1 `memory.usage_in_bytes`. */
  readonly usage: string | undefined;
  /** `memory.stat`. In v1 the rows with `total_` count. */
  readonly stat: string | undefined;
  /** v2 `memory.events`, v1 `memory.oom_control`. Both have `oom_kill`. */
  readonly events: string | undefined;
}

/** Growth ends here. The rest is for the calls in line and for a list of the API server. */
const frozenFrom = 0.85;
/** From here on any allocation may get the daemon killed, so only DELs go on. */
const exhaustedFrom = 0.95;
/** A state ends only this far below its mark, so that it does not flap. */
const calmBelow = 0.03;
/**
 * used = usage − file cache + this much program text. With less text in memory the program would read it from the disk
 * over and over. The kernel reclaims other file pages before it kills a process, and within 50 MiB it fills all free
 * memory with them, so they do not count.
 */
const textBytes = 12 * 2 ** 20;
/** v1 writes a huge number for "no limit", and no node has 4 PiB. */
const unlimitedBytes = 2 ** 52;

export type MemoryState = "free" | "frozen" | "exhausted";

/** Undefined without a limit or without the files. */
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

/** The memory state, given the previous one. */
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
