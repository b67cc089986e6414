import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const kib = 1_024;

/** A process's share of the machine. */
export interface ProcessFacts {
  readonly rssBytes: number;
  readonly anonBytes: number;
  /** Each descriptor's kind, files by name but for their numbers: a log that was begun anew is the same log. */
  readonly descriptors: readonly string[];
}

export function processFacts(pid: number): ProcessFacts {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    rssBytes: field(status, "VmRSS"),
    anonBytes: field(status, "RssAnon"),
    descriptors: descriptorsOf(pid),
  };
}

function field(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "mu").exec(status)?.[1] ?? 0) * kib;
}

function descriptorsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .flatMap((fd) => {
      try {
        return [readlinkSync(`${folder}/${fd}`).replaceAll(/\d+/gu, "#")];
      } catch {
        return []; // closed while we looked
      }
    })
    .toSorted();
}

/** Every process of this PID namespace with its command, the kernel's own apart. */
export function processes(): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/u.test(entry))) {
    try {
      found.set(Number(name), readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ").trim());
    } catch {
      // ended while we looked
    }
  }
  return found;
}

/** The processes below one, at any depth, with their commands. */
export function descendantsOf(root: number): readonly { readonly pid: number; readonly command: string }[] {
  const parents = new Map([...processes().keys()].map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (parents.get(pid) === root || isBelow(parents.get(pid)));
  const all = processes();
  return [...all].filter(([pid]) => isBelow(pid)).map(([pid, command]) => ({ pid, command }));
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
