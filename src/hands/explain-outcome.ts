import { LeveeError, type ErrorCode } from "../base/errors.ts";
import { parseCniError } from "../cni/cni-error.ts";
import type { Outcome } from "../wire/outcome.ts";
import { isBusyRefusal } from "./refusal.ts";

/** The run of an outcome, for the error message. */
interface RunContext {
  readonly verb: string;
  readonly network: string;
  readonly ifname: string;
  readonly plugin: string;
  readonly timeoutMs: number;
}

const sigkill = 9;
/** Go's text for a killed child process. Plugins that call other plugins are written in Go. */
const calledWasKilled = "signal: killed";

/** Undefined when the plugin succeeded, else the reason: the plugin's own error if it printed one. */
export function explainOutcome(outcome: Outcome, context: RunContext): LeveeError | undefined {
  // The daemon has a plugin killed that hangs.
  const isEnded = outcome.failure === "killed";
  if (outcome.failure !== undefined && !isEnded) return explainFailure(outcome, context);
  if (outcome.timedOut || isEnded) {
    const limitMs = isEnded ? outcome.wallUs / 1_000 : context.timeoutMs;
    return new LeveeError(
      "delegate-timeout",
      `${prefix(context)}: ${context.plugin} was killed with its children because it ran longer than ${Math.round(limitMs)} ms`,
      stderrOf(outcome),
    );
  }
  if (outcome.exitCode === 0) return undefined;
  if (outcome.signal !== undefined) return explainSignal(outcome, outcome.signal, context);
  return explainExit(outcome, context);
}

/** `network (interface)`, the start of every plugin error. */
export function prefix(context: { readonly network: string; readonly ifname: string }): string {
  return `${context.network} (${context.ifname})`;
}

/** Failures of a hand that started no plugin, so that there is nothing to undo. */
const notStarted: Readonly<Record<string, ErrorCode>> = {
  missing: "delegate-missing",
  exec: "delegate-unrunnable",
  busy: "delegate-unrunnable",
};

/** Whether an error says that its plugin was never started. */
export function isNotStarted(code: string): boolean {
  return Object.values(notStarted).some((known) => known === code);
}

function explainFailure(outcome: Outcome, context: RunContext): LeveeError {
  const code = isBusyRefusal(outcome) ? "try-later" : (notStarted[outcome.failure ?? ""] ?? "delegate-failed");
  const message = outcome.message === "" ? `it could not be run: ${outcome.failure ?? ""}` : outcome.message;
  return new LeveeError(
    code,
    `${prefix(context)}: Cannot run ${context.plugin} for ${context.verb}: ${message}`,
    stderrOf(outcome),
  );
}

/**
 * The kernel does not say who sent a signal, but it counts its OOM kills in the cgroup and on the node. The victim may
 * also be a plugin that this one called, such as its IPAM plugin. A run that Levee ended itself does not count, because
 * the node's counter also has kills of other processes.
 */
export function isOomKill(outcome: Outcome): boolean {
  if (outcome.timedOut || outcome.failure !== undefined) return false;
  if (outcome.oomCgroup + outcome.oomNode === 0) return false;
  return outcome.signal === sigkill || isCalledKilled(outcome);
}

function isCalledKilled({ exitCode, stdout }: Outcome): boolean {
  return exitCode !== undefined && exitCode !== 0 && Buffer.from(stdout).includes(calledWasKilled);
}

function explainSignal(outcome: Outcome, signal: number, context: RunContext): LeveeError {
  if (isOomKill(outcome)) {
    return new LeveeError(
      "delegate-oom",
      `${prefix(context)}: ${context.plugin} was killed by the kernel because memory ran out: ${roomOf(outcome)}, its own peak was ${outcome.maxRssKib} KiB`,
      stderrOf(outcome),
    );
  }
  return new LeveeError(
    "delegate-failed",
    `${prefix(context)}: ${context.plugin} was ended by signal ${signal}`,
    stderrOf(outcome),
  );
}

function roomOf({ cgroupLimit }: Outcome): string {
  return cgroupLimit === undefined ? "the node has no memory left" : `its cgroup may use ${cgroupLimit} bytes`;
}

/** A plugin that exited with an error: its own code, message and details go to the runtime. */
function explainExit(outcome: Outcome, context: RunContext): LeveeError {
  const own = parseCniError(Buffer.from(outcome.stdout).toString("utf8"));
  if (own === undefined) {
    return new LeveeError(
      "delegate-failed",
      `${prefix(context)}: ${context.plugin} failed with exit code ${outcome.exitCode ?? "unknown"} and no CNI error${killsNearby(outcome)}`,
      stderrOf(outcome),
    );
  }
  const { msg, code: cniCode, details } = own;
  if (isOomKill(outcome)) {
    return new LeveeError(
      "delegate-oom",
      `${prefix(context)}: a plugin that ${context.plugin} called was killed by the kernel because memory ran out: ${roomOf(outcome)}; ${context.plugin} said: ${msg}`,
      { details },
    );
  }
  return new LeveeError("delegate-failed", `${prefix(context)}: ${msg}${killsNearby(outcome)}`, { cniCode, details });
}

/**
 * The kernel does not say which process it killed, but a kill in the plugin's cgroup during the run is worth a mention.
 */
function killsNearby({ oomCgroup }: Outcome): string {
  return oomCgroup === 0
    ? ""
    : `; meanwhile the kernel killed ${oomCgroup} ${oomCgroup === 1 ? "process" : "processes"} of its cgroup because memory ran out`;
}

function stderrOf(outcome: Outcome): { details?: string } {
  const text = outcome.stderr.trim();
  return text === "" ? {} : { details: text };
}
