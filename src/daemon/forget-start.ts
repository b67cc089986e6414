import type { Clock } from "../base/clock.ts";
import type { CallsUnderWay } from "./serve/calls-under-way.ts";
import type { Service } from "./service.ts";

/** By then the lists are read, the conf is written and recovery has begun. */
const settledMs = 10_000;

interface ForgetStartOptions {
  readonly clock: Clock;
  readonly calls: Pick<CallsUnderWay, "count">;
  /** Tests count it. */
  readonly shrink?: () => void;
}

/**
 * Gives back what only the start needed: the engine keeps the compiled code of functions that ran once for ever, because
 * its own timer is off (ADR 0025). Once, in a moment without calls, as a full collection holds everything up.
 */
export function forgetStart({ clock, calls, shrink = () => Bun.shrink() }: ForgetStartOptions): Service {
  const cancel = clock.every(settledMs, () => {
    if (calls.count > 0) return;
    cancel();
    shrink();
  });
  return { stop: cancel };
}
