import type { RebootException } from "../../guard/gate/reboot-exception.ts";
import type { RebootOverride } from "../../guard/gate/reboot-override.ts";
import { timeText } from "../../guard/json-values.ts";
import type { GateReason } from "../../wire/gate-codes.ts";
import type { GateOverride, RebootGate } from "../../wire/reboot-gate.ts";
import { standingVerdict } from "../../wire/standing-verdict.ts";

/** A gate as the commands show it and print it as JSON: judged by the clock of whoever asks. */
export interface GateView {
  readonly node: string;
  readonly verdict: "Allow" | "Deny";
  readonly rebootRequiredSince?: string;
  readonly observedAt?: string;
  readonly expiresAt?: string;
  readonly reasons: readonly ReasonView[];
  readonly override?: WordView;
  /** Those that let an alert of this node pass. */
  readonly exceptions: readonly WordView[];
}

interface ReasonView extends Omit<GateReason, "sinceMs"> {
  readonly since: string;
}

interface WordView {
  readonly name: string;
  readonly by: string;
  readonly reason: string;
  readonly until: string;
}

export interface ExceptionView extends WordView {
  readonly match: Readonly<Record<string, string>>;
  readonly isOver: boolean;
}

export function gateView(node: string, gate: RebootGate | undefined, nowMs: number): GateView {
  const { isAllowed, reasons } = standingVerdict(node, gate, nowMs);
  // Behind an override the reasons are still there.
  const shown = isAllowed ? (gate?.reasons ?? []) : reasons;
  return {
    node,
    verdict: isAllowed ? "Allow" : "Deny",
    ...(gate === undefined ? {} : timesOf(gate)),
    reasons: shown.map(({ sinceMs, ...reason }) => ({ ...reason, since: timeText(sinceMs) })),
    ...(gate?.override === undefined ? {} : { override: wordView(gate.override) }),
    exceptions: gate?.exceptions.map(wordView) ?? [],
  };
}

function timesOf({ observedAtMs, expiresAtMs, rebootRequiredSinceMs: dueMs }: RebootGate): Partial<GateView> {
  return {
    ...{ observedAt: timeText(observedAtMs), expiresAt: timeText(expiresAtMs) },
    ...(dueMs === undefined ? {} : { rebootRequiredSince: timeText(dueMs) }),
  };
}

export function exceptionView(exception: RebootException, nowMs: number): ExceptionView {
  const { match, untilMs } = exception;
  return { ...wordView(exception), match, isOver: untilMs <= nowMs };
}

/** A person's word on a node. */
export function overrideView(override: RebootOverride): WordView & { readonly node: string } {
  return { node: override.node, ...wordView(override) };
}

/** `alertname=NodeFilesystemFull,mountpoint=/mnt/backup`: as `levee gate except` takes it. */
export function matchText(match: Readonly<Record<string, string>>): string {
  return Object.entries(match)
    .map(([label, text]) => `${label}=${text}`)
    .join(",");
}

function wordView({ name, by, reason, untilMs }: GateOverride): WordView {
  return { name, by, reason, until: timeText(untilMs) };
}
