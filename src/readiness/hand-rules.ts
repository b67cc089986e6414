import { failed, passed, warned, type Check } from "./check.ts";

/** One trial run of a plugin, from the daemon through the resident hand and back. */
export interface CanaryFacts {
  readonly isSuccess: boolean;
  /** The hand searched a default folder for the plugin, so a missing plugin proves nothing about the node. */
  readonly isInconclusive: boolean;
  /** Time since the trial ended. */
  readonly ageMs: number;
  readonly tookMs: number;
  /** Why it failed; empty on success. */
  readonly reason: string;
}

export interface HandFacts {
  /** Whether a resident hand is connected. */
  readonly isPresent: boolean;
  /** How long a hand has been connected, or missing. */
  readonly sinceMs: number;
  /** Why the connected hand cannot run the canary; undefined when it can. */
  readonly canaryLack: string | undefined;
  readonly canary: CanaryFacts | undefined;
}

/** The time of three trials in a row that did not finish. */
const canaryAgeMsMax = 180_000;

/**
 * A missing resident hand is only a warning: pods attach through their own shims, and only work outside of calls waits.
 */
export function handCheck({ isPresent }: HandFacts): Check {
  if (isPresent) return passed("hand", "a resident hand is connected");
  return warned(
    "hand",
    "no resident hand is connected: deletes made while the daemon was away, leaks and dead attachments wait for the next call",
    "look at the DaemonSet of the resident hand, or start levee-shim --resident on the node",
  );
}

/** The last trial must be good and recent, but only while a resident hand can make one. */
export function canaryCheck(hand: HandFacts): Check {
  const { canary, canaryLack } = hand;
  if (!hand.isPresent) return passed("canary", "not run: there is no resident hand");
  if (canaryLack !== undefined)
    return warned("canary", `not run: ${canaryLack}`, "roll out the resident hand of the daemon's own version");
  // An old trial of a former hand does not count against a new hand that has not had time for its own.
  const ageMs = Math.min(canary?.ageMs ?? Number.POSITIVE_INFINITY, hand.sinceMs);
  if (ageMs > canaryAgeMsMax)
    return failed(
      "canary",
      canary === undefined
        ? `no trial has finished for ${seconds(hand.sinceMs)}`
        : `the last trial is ${seconds(canary.ageMs)} old`,
      "the resident hand is connected but does not answer; look at its log",
    );
  if (canary === undefined) return passed("canary", "the first trial is still to come");
  if (canary.isInconclusive)
    return warned(
      "canary",
      canary.reason,
      "set binDir to the runtime's plugin folder, or wait for the first pod, whose call names it",
    );
  if (!canary.isSuccess)
    return failed("canary", canary.reason, "no plugin can run on this node now; fix what the reason names");
  return passed(
    "canary",
    `loopback was added and deleted ${seconds(canary.ageMs)} ago, in ${Math.round(canary.tookMs)} ms`,
  );
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
