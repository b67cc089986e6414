import { readdirSync, readFileSync } from "node:fs";

/** The memory of some processes and all their descendants. */
interface ProcessMemory {
  readonly processes: number;
  /** Shared pages are divided among the processes that share them. */
  readonly pssBytes: number;
  readonly anonBytes: number;
}

/** Sums up `roots` and their descendants. A process that ends meanwhile does not count. */
export function processMemory(roots: ReadonlySet<number>, proc = "/proc"): ProcessMemory {
  let [processes, pssBytes, anonBytes] = [0, 0, 0];
  for (const pid of roots.size === 0 ? [] : family(roots, parents(proc))) {
    const rollup = textOf(`${proc}/${pid}/smaps_rollup`);
    if (rollup === "") continue;
    processes += 1;
    pssBytes += kib(rollup, "Pss") * 1024;
    anonBytes += kib(rollup, "Anonymous") * 1024;
  }
  return { processes, pssBytes, anonBytes };
}

function family(roots: ReadonlySet<number>, parentOf: ReadonlyMap<number, number>): readonly number[] {
  const isInside = (pid: number | undefined): boolean => {
    for (let at = pid; at !== undefined && at > 1; at = parentOf.get(at)) if (roots.has(at)) return true;
    return false;
  };
  return [...parentOf.keys()].filter(isInside);
}

function parents(proc: string): ReadonlyMap<number, number> {
  const parentOf = new Map<number, number>();
  for (const name of readdirSync(proc)) {
    if (!/^[0-9]+$/u.test(name)) continue;
    const stat = textOf(`${proc}/${name}/stat`);
    // The name in parentheses may contain anything; state and parent come after the last parenthesis.
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    if (parent !== undefined) parentOf.set(Number(name), Number(parent));
  }
  return parentOf;
}

function kib(rollup: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+([0-9]+) kB$`, "mu").exec(rollup)?.[1] ?? 0);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // The process has ended.
  }
}
