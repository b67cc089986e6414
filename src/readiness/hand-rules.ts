import { failed, passed, warned, type Check } from "./check.ts";

/** One trial of the whole way from the daemon to a plugin and back. */
export interface CanaryFacts {
  readonly isSuccess: boolean;
  /** The plugin was looked for in a folder that nobody named, so that it is not there says nothing about the node. */
  readonly isInconclusive: boolean;
  /** Since it ended. */
  readonly ageMs: number;
  readonly tookMs: number;
  /** Why it failed; empty on success. */
  readonly reason: string;
}

export interface HandFacts {
  /** Whether a resident hand is connected. */
  readonly isPresent: boolean;
  /** How long one has been there, or has been missing. */
  readonly sinceMs: number;
  /** Why the present one cannot run the canary; undefined when it can. */
  readonly canaryLack: string | undefined;
  readonly canary: CanaryFacts | undefined;
}

/** Three trials in a row that did not come to an end. */
const canaryAgeMsMax = 180_000;

/** Without a resident hand pods are attached all the same, by their own shims; only work that belongs to no call waits. */
export function handCheck({ isPresent }: HandFacts): Check {
  if (isPresent) return passed("hand", "a resident hand is connected");
  return warned(
    "hand",
    "no resident hand is connected: deletes made while the daemon was away, leaks and dead attachments wait for the next call",
    "look at the DaemonSet of the resident hand, or start levee-shim --resident on the node",
  );
}

/** The last trial must be good and young, but only where somebody is there to make one. */
export function canaryCheck(hand: HandFacts): Check {
  const { canary, canaryLack } = hand;
  if (!hand.isPresent) return passed("canary", "not run: there is no resident hand");
  if (canaryLack !== undefined)
    return warned("canary", `not run: ${canaryLack}`, "roll out the resident hand of the daemon's own version");
  // One that a former hand made says nothing about this one before it has had its time.
  const ageMs = Math.min(canary?.ageMs ?? Number.POSITIVE_INFINITY, hand.sinceMs);
  if (ageMs > canaryAgeMsMax)
    return failed(
      "canary",
      canary === undefined
        ? `no trial has come to an end for ${seconds(hand.sinceMs)}`
        : `the last trial is ${seconds(canary.ageMs)} old`,
      "the resident hand is connected and does not answer; look at its log",
    );
  if (canary === undefined) return passed("canary", "the first trial is still to come");
  if (canary.isInconclusive)
    return warned(
      "canary",
      canary.reason,
      "set binDir to the runtime's folder of plugins; the first pod that starts here tells it as well",
    );
  if (!canary.isSuccess)
    return failed("canary", canary.reason, "a plugin cannot be run on this node as it is; mend what the reason names");
  return passed(
    "canary",
    `loopback was added and deleted ${seconds(canary.ageMs)} ago, in ${Math.round(canary.tookMs)} ms`,
  );
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
