import { oneLine } from "../../base/plain-text.ts";
import { butMark } from "../../guard/decide/next-status.ts";
import { decisionPhase } from "../../guard/decide/standing.ts";
import { terminalPhases, type Decision } from "../../guard/decision/decision.ts";
import { KubeError } from "../../kube/client/api.ts";
import { CommandFailure, exitCode, interruptedFailure } from "../failure.ts";
import { momentText } from "../terminal/span.ts";
import type { Shell } from "../shell.ts";
import { readDecision, type DecisionSource } from "./decision-source.ts";
import { statusLines } from "./step-text.ts";

/** The guard writes every ten seconds, and more often while it works. */
const pollMs = 1_000;

interface Following {
  readonly shell: Shell;
  readonly source: DecisionSource;
  readonly timeoutMs: number;
}

/** Follows a Decision until it ends or waits for a person, and prints its changes on stderr. */
export async function follow(following: Following, before: Decision): Promise<Decision> {
  try {
    return await followToEnd(following, before);
  } catch (thrown) {
    // Ctrl-C ends a request or a sleep, each with a different error.
    throw following.shell.interrupted.aborted ? followingInterrupted(before) : thrown;
  }
}

async function followToEnd({ shell, source, timeoutMs }: Following, before: Decision): Promise<Decision> {
  const { clock, interrupted, stderr } = shell;
  const endMs = clock.monotonicMs() + timeoutMs;
  const told = new Set<string>();
  for (;;) {
    const decision = await readOr(source, before);
    for (const line of newsOf(decision).filter((news) => !told.has(news))) {
      told.add(line);
      stderr.write(`${momentText(clock.wallMs()).slice(11, 19)}  ${line}\n`);
    }
    if (isOver(decision, before)) return decision;
    if (clock.monotonicMs() >= endMs) throw tooLate(decision, timeoutMs);
    await clock.sleep(pollMs, interrupted);
    interrupted.throwIfAborted();
  }
}

/** Throws unless the Decision that the command followed has succeeded. */
export function requireSucceeded({ metadata, status }: Decision): void {
  const { phase = "Proposed", message = "" } = status ?? {};
  if (phase === "Succeeded") return;
  const needsWord = ["Proposed", "Paused", "Expired", "Superseded"].includes(phase);
  throw new CommandFailure(`decision-${phase.toLowerCase()}`, `${metadata.name} is ${phase}: ${message}`, {
    remedy: needsWord
      ? `levee decisions show ${metadata.name}, and levee decisions list`
      : `levee report ${metadata.name}`,
    exitCode: needsWord ? exitCode.wordMissing : exitCode.failed,
  });
}

/** A restart of the API server does not end the command: the guard goes on when the server is back. */
async function readOr(source: DecisionSource, before: Decision): Promise<Decision> {
  try {
    return await readDecision(source, before.metadata.name);
  } catch (thrown) {
    if (thrown instanceof KubeError && (thrown.status === undefined || thrown.status >= 500)) return before;
    throw thrown;
  }
}

/** A pause or a rejected approval from before our own verdict does not count as its answer. */
function isOver(decision: Decision, before: Decision): boolean {
  if (decision.metadata.uid !== before.metadata.uid || terminalPhases.has(decisionPhase(decision))) return true;
  return isNews(decision, before) && (decisionPhase(decision) === "Paused" || isUnheard(decision));
}

function isNews({ status }: Decision, before: Decision): boolean {
  return status?.since !== before.status?.since || status?.message !== before.status?.message;
}

/** The message says why an approval does not count. */
function isUnheard(decision: Decision): boolean {
  return decisionPhase(decision) === "Proposed" && decision.status?.message.includes(butMark) === true;
}

function newsOf(decision: Decision): readonly string[] {
  const { status } = decision;
  if (status === undefined) return [];
  const steps = (status.steps ?? []).flatMap((step) => {
    const [line] = statusLines(step);
    return line === undefined ? [] : [`  step ${step.id} ${oneLine(line)}`];
  });
  const phase = oneLine(`${status.phase}: ${status.message}`);
  return terminalPhases.has(status.phase) ? [...steps, phase] : [phase, ...steps];
}

/** A person may think that Ctrl-C also ends the Decision. */
export function followingInterrupted({ metadata }: Decision): CommandFailure {
  return interruptedFailure(`following ${metadata.name}, which goes on`, {
    remedy: `levee decisions pause ${metadata.name} stops it`,
  });
}

function tooLate({ metadata, status }: Decision, timeoutMs: number): CommandFailure {
  const state = `${status?.phase ?? "Proposed"}: ${status?.message ?? ""}`;
  return new CommandFailure("timeout", `${metadata.name} has not ended after ${timeoutMs / 1000} s, it is ${state}`, {
    remedy: "levee status shows whether a guard leads; the Decision goes on without this command",
  });
}
