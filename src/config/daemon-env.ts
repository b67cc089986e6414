/**
 * Settings of the engine for the daemon. The engine reads them before any of our code runs, so a daemon that is started
 * without them starts itself again. Figures: docs/adr/0003.
 */
export const daemonEnv = {
  /** A quarter less memory for a fifth more CPU. */
  BUN_JSC_useJIT: "0",
  /** Collects the heap after a growth of half instead of a fifth, which is a third as often. */
  BUN_JSC_miniVMHeapGrowthFactor: "1.5",
  /** No collections on a timer in the middle of a storm; only allocation triggers them. */
  BUN_GC_TIMER_DISABLE: "1",
} as const;

type Env = Readonly<Record<string, string | undefined>>;

/** The environment with the missing settings added; undefined when none is missing. A set variable keeps its value. */
export function completedDaemonEnv(env: Env): Env | undefined {
  const isComplete = Object.keys(daemonEnv).every((name) => env[name] !== undefined);
  return isComplete ? undefined : { ...daemonEnv, ...env };
}
