import type { Outcome } from "../wire/outcome.ts";

/** A plugin that succeeded, for tests to vary. */
export function outcome(changes: Partial<Outcome> = {}): Outcome {
  return {
    exitCode: 0,
    signal: undefined,
    timedOut: false,
    stdout: new Uint8Array(0),
    stdoutTruncated: false,
    stderr: "",
    wallUs: 1_000,
    cpuUs: 500,
    maxRssKib: 4_096,
    failure: undefined,
    errno: undefined,
    message: "",
    oomCgroup: 0,
    oomNode: 0,
    cgroupLimit: undefined,
    cgroupUsage: undefined,
    found: [],
    processes: 0,
    alive: false,
    programs: [],
    isNetnsGone: false,
    builtIn: undefined,
    notBuiltIn: undefined,
    ...changes,
  };
}
