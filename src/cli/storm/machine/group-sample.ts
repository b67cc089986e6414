/** The current use of a group. */
export interface GroupSample {
  readonly usageBytes: number;
  readonly anonBytes: number;
  /** File cache, program text included, that the kernel can drop at once. */
  readonly inactiveFileBytes: number;
  /** The peak of the usage. */
  readonly peakBytes: number;
  readonly oomKills: number;
  readonly processes: number;
  readonly cpuMs: number;
}

/** The contents of the kernel's files; empty if this kernel does not have the file. */
interface GroupTexts {
  readonly version: 1 | 2;
  readonly usage: string;
  readonly peak: string;
  readonly memoryStat: string;
  readonly oomEvents: string;
  readonly cpuUsage: string;
  readonly procs: string;
}

export function parseGroupSample(texts: GroupTexts): GroupSample {
  const usageBytes = whole(texts.usage);
  const names = texts.version === 2 ? namesOfV2 : namesOfV1;
  return {
    usageBytes,
    anonBytes: field(texts.memoryStat, names.anon),
    inactiveFileBytes: field(texts.memoryStat, names.inactiveFile),
    // memory.peak exists since Linux 5.19; without it the largest sample is the best value.
    peakBytes: Math.max(usageBytes, whole(texts.peak)),
    oomKills: parseOomKills(texts.oomEvents),
    processes: texts.procs.split("\n").filter((line) => line !== "").length,
    cpuMs: texts.version === 2 ? field(texts.cpuUsage, "usage_usec") / 1000 : whole(texts.cpuUsage) / 1_000_000,
  };
}

/** v1's memory.oom_control and v2's memory.events use the same name. */
export function parseOomKills(events: string): number {
  return field(events, "oom_kill");
}

const namesOfV1 = { anon: "total_rss", inactiveFile: "total_inactive_file" } as const;
const namesOfV2 = { anon: "anon", inactiveFile: "inactive_file" } as const;

function whole(text: string): number {
  return /^\d+\s*$/u.test(text) ? Number(text) : 0;
}

function field(text: string, name: string): number {
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : whole(line.slice(name.length + 1));
}
