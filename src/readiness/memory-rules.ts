import { passed, warned, type Check } from "./check.ts";

/** How the daemon's own memory stands. */
interface MemoryFacts {
  /** `frozen`: no more ADDs at once than now. `exhausted`: only DELs are served. */
  readonly state: "free" | "frozen" | "exhausted";
  /** Undefined when nobody limits it. */
  readonly usageBytes: number | undefined;
  readonly limitBytes: number | undefined;
}

const mib = 1_048_576;

/** Never a failure: a node that is taken out of service because its daemon is busy has one pod less and one problem more. */
export function memoryCheck({ state, usageBytes, limitBytes }: MemoryFacts): Check {
  if (usageBytes === undefined || limitBytes === undefined)
    return passed("memory", "the daemon has no limit of memory");
  const seen = `${Math.round(usageBytes / mib)} of ${Math.round(limitBytes / mib)} MiB are in use`;
  const hint = "raise the daemon's memory limit, or see with levee top what takes it";
  if (state === "frozen") return warned("memory", `${seen}: no more ADDs run at once than now`, hint);
  if (state === "exhausted") return warned("memory", `${seen}: ADDs are told to come back, only DELs are served`, hint);
  return passed("memory", seen);
}
