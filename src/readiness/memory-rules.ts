import { passed, warned, type Check } from "./check.ts";

/** The state of the daemon's own memory. */
interface MemoryFacts {
  /** `frozen`: the number of parallel ADDs does not grow. `exhausted`: only DELs are served. */
  readonly state: "free" | "frozen" | "exhausted";
  /** Undefined without a memory limit. */
  readonly usageBytes: number | undefined;
  readonly limitBytes: number | undefined;
}

const mib = 1_048_576;

/** Never a failure: a node must not go out of service because its daemon is busy. */
export function memoryCheck({ state, usageBytes, limitBytes }: MemoryFacts): Check {
  if (usageBytes === undefined || limitBytes === undefined) return passed("memory", "the daemon has no memory limit");
  const seen = `${Math.round(usageBytes / mib)} of ${Math.round(limitBytes / mib)} MiB are in use`;
  const hint = "raise the daemon's memory limit, or run levee top to see what uses it";
  if (state === "frozen") return warned("memory", `${seen}: the number of parallel ADDs does not grow`, hint);
  if (state === "exhausted")
    return warned("memory", `${seen}: only DELs are served, ADDs are told to retry later`, hint);
  return passed("memory", seen);
}
